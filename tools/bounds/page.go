package bounds

import (
	"fmt"
	"strings"
)

// page returns docs/bounds.md.
func (s *source) page() (string, error) {
	var b strings.Builder
	head, err := s.head()
	if err != nil {
		return "", err
	}
	b.WriteString(head)
	for _, a := range areas {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", a.title, a.intro)
		b.WriteString("| What | Bound | Option | At the bound | Where | Test |\n|---|---|---|---|---|---|\n")
		for _, r := range a.rows {
			line, err := s.line(r)
			if err != nil {
				return "", fmt.Errorf("%s: %s: %w", a.title, r.what, err)
			}
			b.WriteString(line)
		}
	}
	b.WriteString(measuredHead)
	for _, m := range measured {
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %s |\n", m.end, m.attack, m.sent, m.peak, m.limit, code(m.test))
	}
	fmt.Fprintf(&b, "\n## Fields without a bound of their own\n\n%s\n\n",
		"These fields grow, too; another bound limits them.")
	for _, e := range exceptions {
		fmt.Fprintf(&b, "* %s: %s\n", e.reason, code(e.names...))
	}
	return b.String(), nil
}

func (s *source) line(r row) (string, error) {
	var cells []string
	for _, text := range []string{r.what, r.bound} {
		filled, err := s.fill(text)
		if err != nil {
			return "", err
		}
		cells = append(cells, filled)
	}
	option := "fixed"
	if r.option != "" {
		option = code(r.option)
	}
	full, err := s.fill(r.full)
	if err != nil {
		return "", err
	}
	return "| " + strings.Join(append(cells, option, full, code(r.where...), code(r.test)), " | ") + " |\n", nil
}

func code(names ...string) string { return "`" + strings.Join(names, "`, `") + "`" }

// total adds up the weights of a holder's rows, and lists them.
func (s *source) total(of holder) (sum int64, list string, err error) {
	var b strings.Builder
	for _, a := range areas {
		for _, r := range a.rows {
			if r.holder != of {
				continue
			}
			n, err := s.compute(r.weighs)
			if err != nil {
				return 0, "", fmt.Errorf("%s: %w", r.what, err)
			}
			sum += n
			fmt.Fprintf(&b, "| %s | %s |\n", r.what, size(n))
		}
	}
	return sum, b.String(), nil
}

// head returns the beginning of the page, up to its sections.
func (s *source) head() (string, error) {
	var b strings.Builder
	about, err := s.fill(intro)
	if err != nil {
		return "", err
	}
	b.WriteString(about)
	for _, t := range totals {
		sum, list, err := s.total(t.of)
		if err != nil {
			return "", err
		}
		about, err := s.fill(t.about)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "\n### %s: %s\n\n%s\n\n| What | Bytes at most |\n|---|---|\n%s| **together** | **%s** |\n",
			t.title, size(sum), about, list, size(sum))
	}
	return b.String(), nil
}
