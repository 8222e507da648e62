package otlp

import (
	"strconv"
	"strings"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
)

// setLimit returns the limit of attribute sets for each instrument: [words.SetLimit], within which all clients and
// servers stay together (decision 0021), unless the SDK's own variable sets another limit.
func setLimit(getenv func(string) string) int {
	n, err := strconv.Atoi(strings.TrimSpace(getenv("OTEL_GO_X_CARDINALITY_LIMIT")))
	if err != nil {
		return words.SetLimit
	}
	return n // zero and less mean no limit
}
