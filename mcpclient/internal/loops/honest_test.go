package loops

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// session generates the calls of an agent that makes progress. Its tools have annotations where their answers alone
// would look like a loop.
type session struct {
	*rand.Rand
	calls []Call
	files [8]int // versions of the files
}

func (s *session) call(tool string, args, result any, traits Traits) {
	s.calls = append(s.calls, called(tool, fmt.Sprint(args), fmt.Sprint(result), traits))
}

// read reads a file, which has the same text until it is edited.
func (s *session) read() {
	file := s.IntN(len(s.files))
	s.call("read", file, fmt.Sprint(file, s.files[file]), ReadOnly)
}

// edit edits files; the tool returns the same confirmation each time. The result of the following test may be
// unchanged.
func (s *session) edit() {
	for range 1 + s.IntN(12) {
		file := s.IntN(len(s.files))
		s.files[file]++
		s.call("edit", fmt.Sprint(file, s.files[file]), "ok", Writes)
		if s.IntN(2) == 0 {
			s.call("test", "", []string{"passed", "failed"}[s.IntN(2)], 0)
		}
	}
}

// search searches with different words, up to four times without results.
func (s *session) search() {
	for range s.IntN(5) {
		s.call("search", s.Int(), "[]", ReadOnly)
	}
	s.call("search", s.Int(), s.Int(), ReadOnly)
}

// poll polls one or two things, with up to 28 calls.
func (s *session) poll() {
	jobs, first := 1+s.IntN(2), s.Int()
	for range s.IntN(15) {
		for job := range jobs {
			s.call("status", first+job, []any{"running", first + job}[s.IntN(2)*(jobs-1)], ReadOnly)
		}
	}
	for job := range jobs {
		s.call("status", first+job, fmt.Sprint("done ", first), ReadOnly)
	}
}

// scroll presses keys, stores a value again, and calls a tool without annotations with different arguments.
func (s *session) scroll() {
	for range s.IntN(20) {
		s.call("press", "down", "ok", Writes)
	}
	for range 1 + s.IntN(20) {
		s.call("put", s.IntN(3), "stored", Writes|Idempotent)
	}
	for range s.IntN(20) {
		n := s.Int()
		s.call("fetch", n, n, 0)
	}
}

// fail retries a failed call up to four times, and then makes another call.
func (s *session) fail() {
	n := s.Int()
	for range s.IntN(5) {
		s.call("fetch", n, "unavailable", Failed)
	}
	s.call("fetch", n, n, 0)
}

func TestNormalSessionsHaveNoLoop(t *testing.T) {
	calls := 0
	for seed := range uint64(10_000) {
		s := &session{Rand: rand.New(rand.NewPCG(seed, 1))}
		for range 5 + s.IntN(30) {
			[]func(){s.read, s.edit, s.search, s.poll, s.scroll, s.fail}[s.IntN(6)]()
		}
		calls += len(s.calls)
		if at, loop := flagged(s.calls, usual); at > 0 {
			t.Fatalf("session %d: got %+v at call %d: %v", seed, loop, at, s.calls[max(0, at-20):at])
		}
	}
	t.Logf("%d calls", calls)
}
