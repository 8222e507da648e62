//go:build race

package mcpserver_test

func init() { raceEnabled = true }
