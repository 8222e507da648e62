package traceview

// What one page shows at most. The JSON beside it is bounded by what the sink keeps.
const (
	maxTraces     = 200
	maxRows       = 1000 // spans of a trace
	maxRecords    = 500
	maxSeries     = 500
	maxAttributes = 64 // of one thing
	maxEvents     = 32 // of one span
	maxLinks      = 32 // of one span, in each direction
	maxExemplars  = 3  // of one series
	maxServices   = 50 // that can be chosen
	maxFolds      = 50 // of traces of connecting that are alike
	maxBadges     = 3  // kinds of errors in a row of the list

	maxText    = 2000    // characters of one value, as long as there is room,
	pageBudget = 2 << 20 // which is for so many bytes of values; then
	scantText  = 80      // characters, for as many bytes again; then nothing
	titleText  = 200     // characters of a name
)

// A budget shares out the room on one page.
type budget struct{ left int }

func newBudget() *budget { return &budget{2 * pageBudget} }

// markup is about what the elements around one value take.
const markup = 64

// text is as much of s as there is room for.
func (b *budget) text(s string) string {
	n := maxText
	if b.left < pageBudget {
		n = scantText
	}
	s = cut(n, s)
	b.left -= len(s) + markup
	return s
}

// of is how many of n things are listed, of which a page shows most at most.
func (b *budget) of(n, most int) int {
	if b.left <= 0 {
		return 0
	}
	return min(n, most)
}

// called is a name as a page shows it; it can be clicked on, so there is always something.
func called(name string) string {
	if name == "" {
		return "(no name)"
	}
	return cut(titleText, name)
}

// shortID is enough of an id to recognize it.
func shortID(id string) string { return id[:min(len(id), 8)] }
