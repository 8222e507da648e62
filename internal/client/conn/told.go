package conn

import "fmt"

// told is a condition, such as [ErrTimeout], in the words of what came about: callers test for the condition, people
// read what happened, and what to do.
type told struct{ condition, what error }

// tell returns a condition in these words; the chains of errors that are formatted with %w are kept.
func tell(condition error, format string, args ...any) error {
	return &told{condition, fmt.Errorf(format, args...)}
}

func (t *told) Error() string   { return t.what.Error() }
func (t *told) Unwrap() []error { return []error{t.condition, t.what} }
