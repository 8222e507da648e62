package mcp

import (
	"encoding/json"
	"log/slog"
)

// SetLevelParams are the params of logging/setLevel, until 2025-11-25. In 2026-07-28, [MetaLogLevel] replaces this
// request.
type SetLevelParams struct {
	Meta  Meta         `json:"_meta,omitzero"`
	Level LoggingLevel `json:"level" mcp:"required"` // least severe level to send
}

// LoggingMessageParams are the params of notifications/message.
//
// Deprecated by the protocol in 2026-07-28, where the message belongs to the request that enabled messages with
// [MetaLogLevel]. See https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging.
type LoggingMessageParams struct {
	Meta   Meta            `json:"_meta,omitzero"`
	Level  LoggingLevel    `json:"level" mcp:"required"`
	Logger string          `json:"logger,omitzero"`
	Data   json.RawMessage `json:"data" mcp:"required"` // any JSON, including null
}

// LoggingLevel is the severity of a log message, one of the levels of RFC 5424. It is a [slog.Leveler]; compare levels
// by the results of their Level methods.
type LoggingLevel string

const (
	LevelDebug     LoggingLevel = "debug"
	LevelInfo      LoggingLevel = "info"
	LevelNotice    LoggingLevel = "notice"
	LevelWarning   LoggingLevel = "warning"
	LevelError     LoggingLevel = "error"
	LevelCritical  LoggingLevel = "critical"
	LevelAlert     LoggingLevel = "alert"
	LevelEmergency LoggingLevel = "emergency"
)

// levels lists the levels from the least to the most severe.
var levels = []struct {
	level LoggingLevel
	slog  slog.Level
}{
	{LevelDebug, slog.LevelDebug},
	{LevelInfo, slog.LevelInfo},
	{LevelNotice, slog.LevelInfo + 2},
	{LevelWarning, slog.LevelWarn},
	{LevelError, slog.LevelError},
	{LevelCritical, slog.LevelError + 4},
	{LevelAlert, slog.LevelError + 8},
	{LevelEmergency, slog.LevelError + 12},
}

// Level returns the level for [slog]. Notice lies between info and warn; critical, alert and emergency lie above
// error in steps of 4. A level that the protocol does not define counts as info.
func (l LoggingLevel) Level() slog.Level {
	for _, known := range levels {
		if known.level == l {
			return known.slog
		}
	}
	return slog.LevelInfo
}

// Defined reports whether the protocol defines l.
func (l LoggingLevel) Defined() bool {
	for _, known := range levels {
		if known.level == l {
			return true
		}
	}
	return false
}

// LoggingLevelOf returns the most severe level that is not more severe than level. It returns debug if level is below
// info.
func LoggingLevelOf(level slog.Level) LoggingLevel {
	found := LevelDebug
	for _, known := range levels {
		if known.slog <= level {
			found = known.level
		}
	}
	return found
}
