package mcp

import "slices"

// Version is a revision of the protocol, named by its date. Versions compare as strings: v >= [Version20250618]. A
// peer may send a version that this package does not know.
type Version string

const (
	Version20241105 Version = "2024-11-05"
	Version20250326 Version = "2025-03-26"
	Version20250618 Version = "2025-06-18"
	Version20251125 Version = "2025-11-25"
	Version20260728 Version = "2026-07-28"
)

// versions lists the supported revisions, newest first.
var versions = []Version{Version20260728, Version20251125, Version20250618, Version20250326, Version20241105}

// SupportedVersions returns the revisions that this package supports, newest first. The caller may change the slice.
func SupportedVersions() []Version { return slices.Clone(versions) }

// Supported reports whether this package supports revision v.
func (v Version) Supported() bool { return slices.Contains(versions, v) }

// Era returns the era of v. An unknown revision belongs to the era of its date.
func (v Version) Era() Era {
	if v < Version20260728 {
		return Legacy
	}
	return Modern
}

// Era is one of the two ways in which client and server negotiate a version. See
// https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#terminology.
type Era uint8

const (
	// Legacy revisions, until 2025-11-25, open a session with an initialize handshake.
	Legacy Era = iota + 1
	// Modern revisions, from 2026-07-28, carry version, identity and capabilities in the _meta of each request.
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
