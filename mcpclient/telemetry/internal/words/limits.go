package words

// DefaultToolNameLimit is how many tool and prompt names the metrics of one client or server tell apart, unless an
// option says otherwise.
const DefaultToolNameLimit = 200

// What a peer can choose is limited on metrics, for each client and server. The limits are here, and the number of
// series that follows from them stands in each metric's row.
const (
	// MaxMethods is how many methods are told apart beyond those of the protocol.
	MaxMethods = 64

	// MaxFacts is how many facts are told apart, for a server that is told a new version by every client. The versions
	// of the protocol are far fewer.
	MaxFacts = 16

	// MaxStrangers is how many outcomes are told apart beyond those of the protocol: a peer chooses its error codes.
	MaxStrangers = 16

	// MaxSeries is how many series any metric has. Where names, outcomes and facts would multiply to more, what comes
	// last is recorded under _OTHER, for which some are reserved. OpenTelemetry's SDK allows 2,000 for all clients and
	// servers together, unless it is told otherwise.
	MaxSeries    = 1500
	maxOtherwise = 16
	MaxPrecisely = MaxSeries - maxOtherwise
)
