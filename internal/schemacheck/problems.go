package schemacheck

import "slices"

// Problems returns the deviations from the schema, sorted and without duplicates.
func Problems(s *Signals) (problems []string) {
	for i := range s.Spans {
		problems = append(problems, s.Spans[i].check(s.Users)...)
	}
	for i := range s.Metrics {
		problems = append(problems, s.Metrics[i].check(s.ToolNameLimit)...)
	}
	for i := range s.Records {
		problems = append(problems, s.Records[i].check(s.Users)...)
	}
	slices.Sort(problems)
	return slices.Compact(problems)
}
