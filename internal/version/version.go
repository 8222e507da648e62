// Package version has the version of this module.
package version

// Version is the version of this module, without the leading "v". The release tool sets it, so it is right under
// replace directives and go.work, where the build info has no version.
const Version = "0.1.0-dev"
