package conn

import "fmt"

// told is a condition, such as [ErrTimeout], with a specific text: callers test for the condition, people read
// what happened and what to do.
type told struct{ condition, what error }

// tell returns a condition with a specific text, which is formatted like by fmt.Errorf.
func tell(condition error, format string, args ...any) error {
	return &told{condition, fmt.Errorf(format, args...)}
}

func (t *told) Error() string   { return t.what.Error() }
func (t *told) Unwrap() []error { return []error{t.condition, t.what} }
