package mcp

import "slices"

// Version is a revision of the protocol, named by its date. Versions compare as strings: v >= [Version20250618].
// A peer may name one that this package does not know.
type Version string

const (
	Version20241105 Version = "2024-11-05"
	Version20250326 Version = "2025-03-26"
	Version20250618 Version = "2025-06-18"
	Version20251125 Version = "2025-11-25"
	Version20260728 Version = "2026-07-28"
)

// versions lists what this package knows, newest first.
var versions = []Version{Version20260728, Version20251125, Version20250618, Version20250326, Version20241105}

// SupportedVersions returns the revisions this package holds, newest first. The slice is the caller's.
func SupportedVersions() []Version { return slices.Clone(versions) }

// Supported reports whether v is one of the revisions this package holds.
func (v Version) Supported() bool { return slices.Contains(versions, v) }

// Era returns the era that v belongs to. A revision that this package does not know belongs to the era of its date.
func (v Version) Era() Era {
	if v < Version20260728 {
		return Legacy
	}
	return Modern
}

// Era is one of the two ways in which client and server agree on a version.
// See https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#terminology.
type Era uint8

const (
	// Legacy revisions, 2025-11-25 and earlier, open a session with an initialize handshake.
	Legacy Era = iota + 1
	// Modern revisions, 2026-07-28 and later, carry version, identity and capabilities in the _meta of each request.
	Modern
)

// String returns "legacy" or "modern".
func (e Era) String() string {
	switch e {
	case Legacy:
		return "legacy"
	case Modern:
		return "modern"
	}
	return "unknown"
}
