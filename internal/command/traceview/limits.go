package traceview

// Limits of one HTML page. The JSON form of a page has no such limits, because package otlpsink already limits the
// telemetry that it keeps in memory.
const (
	maxTraces     = 200
	maxDots       = 1000 // traces of the chart above the list
	maxRows       = 1000 // spans of a trace
	maxRecords    = 500
	maxSeries     = 500
	maxAttributes = 64 // of one element
	maxEvents     = 32 // of one span
	maxLinks      = 32 // of one span, in each direction
	maxExemplars  = 3  // of one series
	maxServices   = 50 // offered in a form
	maxFolds      = 50 // groups of similar traces that only connect
	maxBadges     = 3  // kinds of errors in a row of the list

	maxText    = 2000    // characters of one value, until a page has pageBudget bytes of values
	pageBudget = 2 << 20 // bytes of values
	scantText  = 80      // characters of one value, for the next pageBudget bytes; after those, the page omits values
	titleText  = 200     // characters of a name
)

// A budget is the remaining space on one page.
type budget struct{ left int }

func newBudget() *budget { return &budget{2 * pageBudget} }

// markup is the approximate size of the elements around one value.
const markup = 64

// text returns as much of s as the budget allows.
func (b *budget) text(s string) string {
	n := maxText
	if b.left < pageBudget {
		n = scantText
	}
	s = cut(n, s)
	b.left -= len(s) + markup
	return s
}

// of returns how many of n elements the page lists: no more than most, and none if the budget is used up.
func (b *budget) of(n, most int) int {
	if b.left <= 0 {
		return 0
	}
	return min(n, most)
}

// called returns the displayed form of a name. It is never empty, so that users can click it.
func called(name string) string {
	if name == "" {
		return "(no name)"
	}
	return cut(titleText, name)
}

// shortID returns the beginning of an id, which suffices to recognize it.
func shortID(id string) string { return id[:min(len(id), 8)] }
