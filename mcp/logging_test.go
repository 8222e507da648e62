package mcp

import (
	"log/slog"
	"testing"
)

func TestLevelsAreOrderedBySeverity(t *testing.T) {
	ordered := []LoggingLevel{
		LevelDebug, LevelInfo, LevelNotice, LevelWarning, LevelError, LevelCritical, LevelAlert, LevelEmergency,
	}
	for i, level := range ordered {
		if !level.Defined() {
			t.Errorf("%s is not defined, want it to be", level)
		}
		if i > 0 && level.Level() <= ordered[i-1].Level() {
			t.Errorf("%s has level %v, %s has %v, want more", level, level.Level(), ordered[i-1], ordered[i-1].Level())
		}
		if got := LoggingLevelOf(level.Level()); got != level {
			t.Errorf("LoggingLevelOf(%v) = %s, want %s", level.Level(), got, level)
		}
	}
	for level, want := range map[slog.Level]LoggingLevel{
		-100: LevelDebug, -5: LevelDebug, -1: LevelDebug, 1: LevelInfo, 3: LevelNotice, 7: LevelWarning, 11: LevelError,
		100: LevelEmergency,
	} {
		if got := LoggingLevelOf(level); got != want {
			t.Errorf("LoggingLevelOf(%d) = %s, want %s", level, got, want)
		}
	}
	if newer := LoggingLevel("newer"); newer.Defined() || newer.Level() != slog.LevelInfo {
		t.Errorf("an unknown level is defined: %v, of level %v, want it undefined and info", newer.Defined(), newer.Level())
	}
}
