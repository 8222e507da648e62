package dashboard

import "cmp"

// Dashboard is a Grafana dashboard.
type Dashboard struct {
	UID         string // also the name of its file, after the prefix
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

// The kinds of panels, all of them part of Grafana itself.
const (
	TimeSeries Kind = "timeseries"
	Stat       Kind = "stat"
	BarGauge   Kind = "bargauge"
	Table      Kind = "table"
)

// Panel is one panel.
type Panel struct {
	Title   string
	Text    string // what it shows and what to do about it
	Kind    Kind   // zero means TimeSeries
	Unit    string // of Grafana's units
	Queries []Query
	Steps   []Step // none: nothing on it is good or bad by itself
	Empty   string // what it means when there is nothing to show
	Width   int    // of 24; zero means that of the kind
	Height  int    // zero means that of the kind
	Stacked bool
	Colors  []Color  // of lines that are good or bad by their name; the others have any
	Columns []Column // of a table
	Links   []Link   // from its title
}

// Query is a question to Prometheus.
type Query struct {
	Expr      string
	Legend    string
	Exemplars bool

	// Zero says why it is zero, or has no answer, in a fleet where everything that can happen has happened. Empty: then it
	// has an answer that is not zero.
	Zero string
}

// Step is a threshold: from Value on the color is Color. Below the first it is green.
type Step struct {
	Value float64
	Color string
}

// Color is that of the line with this name.
type Color struct{ Name, Color string }

// Column is a column of a table: a label, or the value of a query.
type Column struct {
	Field string // label, or the letter of a query
	Title string // none: the column is not shown
	Unit  string
	Steps []Step
	Links []Link
}

// Link leads elsewhere.
type Link struct{ Title, URL string }

// Variable is a variable of a dashboard: a data source of a type, the values of a label, or one of some options.
type Variable struct {
	Name  string
	Label string
	Type  string // of the data source
	Query string // of label values
	All   string // the regular expression for all of them

	Options []string // fixed values, of which the first is the default
}

// Letter names the query at an index, as Grafana does.
func Letter(i int) string { return string(rune('A' + i)) }

// Instant reports whether the panel asks for one moment, and so looks at the whole range at once.
func (p Panel) Instant() bool { return p.kind() != TimeSeries }

func (p Panel) kind() Kind { return cmp.Or(p.Kind, TimeSeries) }
