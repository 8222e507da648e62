package loops

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var usual = Limits{Repeats: 5, Polls: 30}

// called returns a call from short texts for tool, arguments and result, with traits.
func called(tool, args, result string, traits Traits) Call {
	return Call{HashString(tool), HashString(tool + " " + args), HashString(result), traits}
}

// of parses calls such as "A1=x!": tool, arguments, result; ! for an error, ? for a tool that reads, + for a tool that
// writes, * for an idempotent tool.
func of(words string) (calls []Call) {
	for word := range strings.FieldsSeq(words) {
		question, answer, _ := strings.Cut(word, "=")
		traits := Traits(0)
		for mark, trait := range map[string]Traits{"!": Failed, "?": ReadOnly, "+": Writes, "*": Writes | Idempotent} {
			if before, marked := strings.CutSuffix(answer, mark); marked {
				traits, answer = trait, before
			}
		}
		calls = append(calls, called(question[:1], question[1:], answer, traits))
	}
	return calls
}

// flagged returns the number of the first call in a loop, counted from 1, and the loop; 0 for none.
func flagged(calls []Call, l Limits) (int, Loop) {
	var r Ring
	for i, c := range calls {
		if loop := r.Add(c, l); loop.Kind != None {
			return i + 1, loop
		}
	}
	return 0, Loop{}
}

func TestCallsWithoutNewResultsAreALoop(t *testing.T) {
	times := func(n int, words string) string { return strings.Repeat(words+" ", n) }
	varied := func(n int, form string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, form+" ", i)
		}
		return b.String()
	}
	for name, tc := range map[string]struct {
		calls string
		at    int
		kind  Kind
	}{
		"one call again and again":               {times(62, "A1=x"), 5, SameCall},
		"four times":                             {times(4, "A1=x"), 0, None},
		"with another result at times":           {times(9, "A1=x A1=x A1=x A1=x A1=y B2=z"), 0, None},
		"while others read":                      {varied(9, "A1=x R%[1]d=%[1]d?"), 9, SameCall},
		"while others change something":          {varied(20, "A1=x W%[1]d=%[1]d"), 0, None},
		"ever new arguments, one result":         {varied(277, "S%d=none"), 5, SameResult},
		"the same of a tool that reads":          {varied(277, "S%d=none?"), 5, SameResult},
		"the same of a tool that fails":          {varied(277, "S%d=none!"), 5, SameResult},
		"a tool that says it writes, and ok":     {varied(277, "S%d=ok+"), 0, None},
		"one that is idempotent":                 {varied(277, "S%d=ok*"), 0, None},
		"ever new results":                       {varied(277, "S%[1]d=%[1]d"), 0, None},
		"in turns":                               {times(20, "A1=x B1=y"), 9, Cycle},
		"three in turns":                         {times(20, "A1=x B1=y C1=z"), 13, Cycle},
		"four in turns":                          {times(20, "A1=x B1=y A2=x C1=z"), 17, Cycle},
		"five in turns":                          {times(20, "A1=x B1=y C1=z D1=u E1=v"), 0, None},
		"tools that read in turns, new asked":    {varied(20, "A%[1]d=x? B%[1]d=y?"), 9, Cycle},
		"tools of unknown kind, new asked":       {varied(20, "A%[1]d=x B%[1]d=y"), 0, None},
		"polling":                                {times(29, "A1=x?"), 0, None},
		"polling without end":                    {times(60, "A1=x?"), 30, SameCall},
		"pressing a key":                         {times(29, "A1=x+"), 0, None},
		"polling what fails":                     {times(29, "A1=x!"), 5, SameCall},
		"polling two":                            {times(14, "A1=x? A2=x?"), 0, None},
		"polling two without end":                {times(40, "A1=x? A2=y?"), 30, Cycle},
		"an edit that fails, and a test":         {varied(20, "E%[1]d=no! T=bad"), 9, Cycle},
		"an edit that works, and a test":         {varied(20, "E%[1]d=ok+ T=bad"), 0, None},
		"an edit of unknown kind, and a test":    {varied(20, "E%[1]d=ok T=bad"), 0, None},
		"four arguments in disorder, one answer": {"A1=x A2=x A3=x A4=x A1=x A3=x A2=x A4=x A4=x A1=x", 0, None},
	} {
		t.Run(name, func(t *testing.T) {
			at, loop := flagged(of(tc.calls), usual)
			if at != tc.at || loop.Kind != tc.kind {
				t.Errorf("got %v at call %d, want kind %d at %d", loop, at, tc.kind, tc.at)
			}
			if at > 0 && (loop.Calls < usual.Repeats || loop.Calls > at) {
				t.Errorf("got a loop of %d calls at call %d", loop.Calls, at)
			}
		})
	}
}

func TestLoopCountsCallsBeyondItsHistory(t *testing.T) {
	for i, calls := range [][]Call{
		of(strings.Repeat("A1=x ", 277)), of(strings.Repeat("A1=x B1=y ", 277)),
		func() (all []Call) {
			for n := range 277 {
				all = append(all, called("A", fmt.Sprint(n), "x", 0))
			}
			return all
		}(),
	} {
		var r Ring
		for _, c := range calls {
			r.Add(c, usual)
		}
		if got := r.Loop().Calls; got != len(calls) {
			t.Errorf("loop %d: got %d calls, want %d", i, got, len(calls))
		}
	}
}

func TestOnlyCallsOfSamePatternContinueLoop(t *testing.T) {
	for _, tc := range []struct {
		loop, goesOn, isNew string
	}{
		{strings.Repeat("A1=x ", 5), "A1", "A2"},
		{"A1=x A2=x A3=x A4=x A5=x", "A6", "B1"},
		{strings.Repeat("A1=x B1=y ", 5), "A1", "B1"},
		{strings.Repeat("A1=x B1=y ", 5), "A1", "A2"},
		{"A1=x? B1=y? A2=x? B2=y? A3=x? B3=y? A4=x? B4=y? A5=x? B5=y?", "A6", "B6"},
		{"A1=x", "", "A1"},
	} {
		var r Ring
		for _, c := range of(tc.loop) {
			r.Add(c, usual)
		}
		for words, want := range map[string]bool{tc.goesOn: true, tc.isNew: false} {
			if words == "" {
				continue
			}
			if c := of(words + "=")[0]; r.Continues(c.Tool, c.Args) != want {
				t.Errorf("%s, then %s: got %v, want %v", tc.loop, words, !want, want)
			}
		}
	}
}

// naive finds the loop of the latest call directly from the definition of loops, without regard to cost.
func naive(calls []Call, l Limits) Kind {
	calls = calls[max(0, len(calls)-Size):]
	same := func(a, b Call) bool { return a.Args == b.Args && a.Result == b.Result }
	alike := func(a, b Call) bool {
		if a.Traits&(ReadOnly|Failed) != 0 && b.Traits&(ReadOnly|Failed) != 0 {
			return a.Tool == b.Tool && a.Result == b.Result
		}
		return same(a, b) && a.Traits&(ReadOnly|Failed) == b.Traits&(ReadOnly|Failed)
	}
	turns := func(eq func(a, b Call) bool, period int) int {
		tail := calls[len(calls)-min(period, len(calls)):]
		if len(tail) < period || !slices.ContainsFunc(tail, func(c Call) bool { return !eq(c, tail[0]) }) {
			return 0
		}
		n := period
		for n < len(calls) && eq(calls[len(calls)-1-n], calls[len(calls)-1-n+period]) {
			n++
		}
		return n
	}
	for period := 2; period <= Periods; period++ {
		need := period*l.Repeats - period + 1
		if n := turns(same, period); n >= need {
			patient := !slices.ContainsFunc(calls[len(calls)-period:], func(c Call) bool { return !c.polls() })
			if !patient || n >= l.Polls {
				return Cycle
			}
		} else if turns(alike, period) >= need {
			return Cycle
		}
	}
	latest := calls[len(calls)-1]
	since := calls
	for i, c := range calls {
		if c.Tool != latest.Tool && c.mayChange() {
			since = calls[i+1:]
		}
	}
	n := 0
	for _, c := range since {
		if same(c, latest) {
			n++
		}
	}
	if n >= l.Repeats && !latest.polls() || n >= l.Polls {
		return SameCall
	}
	asked := map[uint64]bool{}
	for _, c := range slices.Backward(calls) {
		if c.Tool != latest.Tool || c.Result != latest.Result {
			break
		}
		asked[c.Args] = true
	}
	if latest.Traits&(Writes|Failed) != Writes && len(asked) >= l.Repeats {
		return SameResult
	}
	return None
}

// alphabet returns only a few calls, so that random sequences of these calls often contain a loop. The traits of a tool
// do not change, except for errors.
func alphabet() []Call { return of("A1=x A2=x A1=y B1=x? B2=x? C1=x+ C1=e! D1=x*") }

func TestShortSequencesAgreeWithTheNaiveOracle(t *testing.T) {
	for name, set := range map[string][]Call{
		"unknown": of("A1=x A2=x B1=x"), "marked": of("A1=x? B1=y? B2=y?"), "mixed": of("A1=x! B1=x+ B2=x?"),
	} {
		for _, l := range []Limits{{2, 3}, {2, 100}, {3, 4}} {
			length, total := 8, 1
			for range length {
				total *= len(set)
			}
			for code := range total {
				var r Ring
				calls := make([]Call, 0, length)
				for n := code; len(calls) < length; n /= len(set) {
					calls = append(calls, set[n%len(set)])
					if got, want := r.Add(calls[len(calls)-1], l).Kind, naive(calls, l); got != want {
						t.Fatalf("%s %+v, code %d, call %d: got %d, want %d", name, l, code, len(calls), got, want)
					}
				}
			}
		}
	}
}

func TestLongSequencesAgreeWithTheNaiveOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := Limits{rapid.IntRange(2, MaxRepeats).Draw(t, "repeats"), rapid.IntRange(2, Size).Draw(t, "polls")}
		l.Polls = max(l.Polls, l.Repeats)
		var r Ring
		var calls []Call
		for range rapid.IntRange(1, 12).Draw(t, "pieces") {
			piece := rapid.SliceOfN(rapid.SampledFrom(alphabet()), 1, 5).Draw(t, "piece")
			for range rapid.IntRange(1, 20).Draw(t, "times") {
				for _, c := range piece {
					calls = append(calls, c)
					if got, want := r.Add(c, l).Kind, naive(calls, l); got != want {
						t.Fatalf("call %d: got %d, want %d", len(calls), got, want)
					}
				}
			}
		}
	})
}
