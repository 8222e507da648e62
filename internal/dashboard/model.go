package dashboard

import "cmp"

// Dashboard is a Grafana dashboard.
type Dashboard struct {
	UID         string // also the name of its file, without the prefix
	Title       string
	Description string
	Variables   []Variable
	Rows        []Row
}

// Row is a heading and the panels below it, which flow from left to right.
type Row struct {
	Title  string
	Panels []Panel
}

// Kind is the type of a panel.
type Kind string

// The kinds of panels, all built into Grafana.
const (
	TimeSeries Kind = "timeseries"
	Stat       Kind = "stat"
	BarGauge   Kind = "bargauge"
	Table      Kind = "table"
)

// Panel is one panel.
type Panel struct {
	Title   string
	Text    string // meaning of the panel, and what to do about it
	Kind    Kind   // zero means TimeSeries
	Unit    string // one of Grafana's units
	Queries []Query
	Steps   []Step // empty if no value is good or bad by itself
	Empty   string // meaning of a panel without data
	Width   int    // of 24 columns; zero means the default of the kind
	Height  int    // zero means the default of the kind
	Stacked bool
	Colors  []Color  // colors of lines with a good or a bad meaning; Grafana chooses the other colors
	Columns []Column // columns of a table
	Links   []Link   // links in the title
}

// Query is a Prometheus query.
type Query struct {
	Expr      string
	Legend    string
	Exemplars bool

	// Zero explains why the query may return zero or nothing even in a fleet where every possible event has happened. An
	// empty Zero means that the query returns a value above zero in such a fleet.
	Zero string
}

// Step is a threshold: from Value on, the color is Color. Below the first step, the color is green.
type Step struct {
	Value float64
	Color string
}

// Color sets the color of the line with this name.
type Color struct{ Name, Color string }

// Column is a column of a table: a label, or the value of a query.
type Column struct {
	Field string // label, or the letter of a query
	Title string // empty hides the column
	Unit  string
	Steps []Step
	Links []Link
}

// Link is a link with its title.
type Link struct{ Title, URL string }

// Variable is a variable of a dashboard: a data source, a label's values, or one of several options.
type Variable struct {
	Name  string
	Label string
	Type  string // type of the data source
	Query string // query for label values
	All   string // regular expression that matches all values

	Options []string // fixed values; the first is the default
}

// Letter returns Grafana's name for the query at an index.
func Letter(i int) string { return string(rune('A' + i)) }

// Instant reports whether the panel shows the values of a single moment instead of a graph. Its queries may cover the
// whole time range.
func (p Panel) Instant() bool { return p.kind() != TimeSeries }

func (p Panel) kind() Kind { return cmp.Or(p.Kind, TimeSeries) }
