package conn

import "fmt"

// told is a condition, such as [ErrTimeout], with a specific text. Callers test for the condition; people read what
// happened and what to do.
type told struct{ condition, what error }

// tell returns an error that wraps condition and has a specific text, formatted as by fmt.Errorf.
func tell(condition error, format string, args ...any) error {
	return &told{condition, fmt.Errorf(format, args...)}
}

func (t *told) Error() string   { return t.what.Error() }
func (t *told) Unwrap() []error { return []error{t.condition, t.what} }
