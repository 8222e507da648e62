//go:build !linux

package e2e

import "os/exec"

// diesWithParent does nothing: only Linux can bind a child's life to its parent's.
func diesWithParent(*exec.Cmd) {}
