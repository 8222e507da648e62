package words

// DefaultToolNameLimit is the number of tool and prompt names that the metrics of one client or server distinguish,
// unless an option changes it.
const DefaultToolNameLimit = 200

// Limits of metrics for values that a peer can choose, for each client and server. The row of each metric contains the
// resulting number of series.
const (
	// MaxMethods bounds the distinct methods outside the protocol.
	MaxMethods = 64

	// MaxFacts bounds the distinct facts of connections, because each client of a server may send a different version.
	// The protocol has far fewer versions.
	MaxFacts = 16

	// MaxPeers bounds the distinct implementations of peers, by name and version: servers for all clients of a process,
	// and clients for each server.
	MaxPeers = 256

	// MaxPeersOfServers bounds the implementations of clients for all servers of a process together. MaxServers bounds
	// the server names with separate implementations.
	MaxPeersOfServers = 1500
	MaxServers        = 400

	// MaxLabels bounds the distinct values of the label from baggage.
	MaxLabels = 32

	// MaxStrangers bounds the distinct outcomes outside the protocol, because a peer chooses its error codes.
	MaxStrangers = 16

	// MaxSeries bounds the series of one client or server for any metric. If names, outcomes and facts would result in
	// more series, the last ones are recorded under _OTHER. maxOtherwise series are reserved for _OTHER.
	MaxSeries    = 1500
	maxOtherwise = 16
	MaxPrecisely = MaxSeries - maxOtherwise
)

// Limits for texts of a peer on a span or in a log record, in bytes.
const (
	MaxName    = 128
	MaxURI     = 1024
	MaxMessage = 256
)

// MaxMember bounds the size in bytes of a baggage member on spans and log records, because the member may come from a
// peer.
const MaxMember = 256

// All clients and servers of a meter share the attribute sets that the SDK permits for each instrument: see decision
// 0021.
const (
	// SetLimit is the SDK's default limit on the attribute sets of an instrument. The SDK merges all further sets into the
	// last one, so only MaxSets are usable.
	SetLimit = 2000
	MaxSets  = SetLimit - 1

	// MaxGroups bounds the distinct groups of clients.
	MaxGroups = 32

	// FoldedNames is the number of names that replace names beyond the limit: one for each group, one for clients without
	// a group or with a group beyond the limit, and one for servers.
	FoldedNames = MaxGroups + 2

	// SetsForName is the number of sets that are reserved for each name before tools get sets. An ordinary client uses
	// four: one for the handshake, one for lists, and two for calls.
	SetsForName = 4

	// SetsForGroups is the number of sets that are reserved for groups before names get sets.
	SetsForGroups = 300
)
