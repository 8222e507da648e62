package chaos

import (
	"context"
	"log/slog"

	"github.com/mcpotel/mcpotel/internal/instrument"
)

// tell records the injected faults. ctx has the span of the request, if there is one.
func tell(ctx context.Context, l *slog.Logger, kinds []Kind, r request) {
	for _, k := range kinds {
		instrument.Injected(ctx, l, instrument.InjectedFault{Kind: string(k), Method: r.method, Tool: r.tool})
	}
}
