package config

import (
	"os"
	"runtime"
	"strings"
)

// DefaultEnviron returns the variables of this process that programs need to run at all: where they find programs, who
// the user is and where their files are. It is what the SDKs of the protocol give to servers.
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
		if set && !strings.HasPrefix(value, "()") { // a function of the shell
			environ = append(environ, name+"="+value)
		}
	}
	return environ
}
