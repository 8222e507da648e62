package otlp

import (
	"strconv"
	"strings"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
)

// setLimit returns how many sets of attributes each instrument may have: as many as all clients and servers use at most
// (decision 0021), unless the SDK's own variable says otherwise.
func setLimit(getenv func(string) string) int {
	n, err := strconv.Atoi(strings.TrimSpace(getenv("OTEL_GO_X_CARDINALITY_LIMIT")))
	if err != nil {
		return words.SetLimit
	}
	return n // zero and less mean that there is no limit
}
