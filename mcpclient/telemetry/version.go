package telemetry

import "github.com/mcpotel/mcpotel/internal/version"

// Version is the version of this module, without the leading "v", and the version of the instrumentation scope.
const Version = version.Version
