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

	// MaxPeers is how many implementations of the other end are told apart, by name and version: for all clients of a
	// process, and for each server.
	MaxPeers = 256

	// MaxPeersOfServers is the same for all servers of a process together, of which MaxServers are told apart by the
	// clients that they have.
	MaxPeersOfServers = 1500
	MaxServers        = 400

	// MaxLabels is how many values of the label that is taken from baggage are told apart.
	MaxLabels = 32

	// MaxStrangers is how many outcomes are told apart beyond those of the protocol: a peer chooses its error codes.
	MaxStrangers = 16

	// MaxSeries is how many series one client or one server makes of any metric. Where names, outcomes and facts would
	// multiply to more, what comes last is recorded under _OTHER, for which some are reserved.
	MaxSeries    = 1500
	maxOtherwise = 16
	MaxPrecisely = MaxSeries - maxOtherwise
)

// What a peer can put on a span or into a log record is limited, in bytes.
const (
	MaxName    = 128
	MaxURI     = 1024
	MaxMessage = 256
)

// MaxMember is how many bytes a member of the baggage may have to be written to spans and log records, for a peer may
// have sent it.
const MaxMember = 256

// All clients and servers of a meter share the sets of attributes that the SDK has for each instrument. See decision
// 0021.
const (
	// SetLimit is how many the SDK has, unless it is told otherwise. The last one is for all that overflows.
	SetLimit = 2000
	MaxSets  = SetLimit - 1

	// MaxGroups is how many groups of clients are told apart.
	MaxGroups = 32

	// FoldedNames is who has sets when there are more names than places: each group, the clients of none and of those
	// beyond the limit, and the servers.
	FoldedNames = MaxGroups + 2

	// SetsForName is how many sets are kept for each name before tools are told apart: an ordinary client has one for
	// the handshake, one for lists, and two for calls.
	SetsForName = 4

	// SetsForGroups is how many sets are kept for what groups tell apart, before names are.
	SetsForGroups = 300
)
