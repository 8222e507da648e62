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
	maxBadges     = 3  // kinds of errors in a row of the list

	maxText    = 2000    // characters of one value, as long as there is room,
	pageBudget = 2 << 20 // which is for so many bytes of values; then
	scantText  = 80      // characters
	titleText  = 200     // characters of a name
)

// A budget shares out the room for text on one page.
type budget struct{ left int }

func newBudget() *budget { return &budget{pageBudget} }

// text is as much of s as there is room for.
func (b *budget) text(s string) string {
	n := maxText
	if b.left <= 0 {
		n = scantText
	}
	s = cut(n, s)
	b.left -= len(s)
	return s
}
