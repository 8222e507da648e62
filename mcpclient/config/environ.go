package config

import (
	"os"
	"runtime"
	"strings"
)

// DefaultEnviron returns the variables of this process that programs need to run: the search path, the user, and the
// places of the user's files. The official SDKs of the protocol pass the same variables to servers.
func DefaultEnviron() []string {
	names := []string{"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"}
	if runtime.GOOS == "windows" {
		names = []string{
			"APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PATHEXT", "PROCESSOR_ARCHITECTURE", "PROGRAMFILES",
			"SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "USERNAME", "USERPROFILE",
		}
	}
	environ := []string{}
	for _, name := range names {
		value, set := os.LookupEnv(name)
		if set && !strings.HasPrefix(value, "()") { // skip exported shell functions
			environ = append(environ, name+"="+value)
		}
	}
	return environ
}
