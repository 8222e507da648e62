package conformance

// serverRevisions are all revisions for servers. One process at one URL serves them.
var serverRevisions = []revision{
	{
		version: "2026-07-28", required: serverRequired20260728, extensions: serverExtensions20260728, skills: serverSkills,
		skipped: []string{"tasks-status-notifications"}, // the suite must first adapt it to subscriptions/listen
	},
	{version: "2025-11-25", required: serverRequired20251125, extensions: serverExtensions20251125, skills: serverSkills},
	{version: "2025-06-18", required: serverRequired20250618},
	{
		version: "2026-07-28", required: serverRequired20260728, extensions: serverExtensions20260728, skills: serverSkills,
		way: proxied,
	},
	{
		version: "2025-11-25", required: serverRequired20251125, extensions: serverExtensions20251125, skills: serverSkills,
		way: proxied,
	},
}

var serverRequired20260728 = []string{
	"server-stateless",
	"completion-complete",
	"tools-list",
	"tools-call-simple-text",
	"tools-call-image",
	"tools-call-audio",
	"tools-call-embedded-resource",
	"tools-call-mixed-content",
	"tools-call-error",
	"tools-call-with-progress",
	"server-sse-multiple-streams",
	"resources-list",
	"resources-read-text",
	"resources-read-binary",
	"resources-templates-read",
	"sep-2164-resource-not-found",
	"prompts-list",
	"prompts-get-simple",
	"prompts-get-with-args",
	"prompts-get-embedded-resource",
	"prompts-get-with-image",
	"dns-rebinding-protection",
	"caching",
	"input-required-result-basic-elicitation",
	"input-required-result-basic-sampling",
	"input-required-result-basic-list-roots",
	"input-required-result-request-state",
	"input-required-result-multiple-input-requests",
	"input-required-result-multi-round",
	"input-required-result-missing-input-response",
	"input-required-result-non-tool-request",
	"input-required-result-result-type",
	"input-required-result-unsupported-methods",
	"input-required-result-tampered-state",
	"input-required-result-capability-check",
	"input-required-result-ignore-extra-params",
	"input-required-result-validate-input",
}

var serverRequired20251125 = []string{
	"server-initialize",
	"logging-set-level",
	"ping",
	"completion-complete",
	"tools-list",
	"tools-call-simple-text",
	"tools-call-image",
	"tools-call-audio",
	"tools-call-embedded-resource",
	"tools-call-mixed-content",
	"tools-call-with-logging",
	"tools-call-error",
	"tools-call-with-progress",
	"tools-call-sampling",
	"tools-call-elicitation",
	"elicitation-sep1034-defaults",
	"server-sse-multiple-streams",
	"elicitation-sep1330-enums",
	"resources-list",
	"resources-read-text",
	"resources-read-binary",
	"resources-templates-read",
	"resources-subscribe",
	"resources-unsubscribe",
	"prompts-list",
	"prompts-get-simple",
	"prompts-get-with-args",
	"prompts-get-embedded-resource",
	"prompts-get-with-image",
	"dns-rebinding-protection",
}

// The suite has no frozen requirements for 2025-06-18. These are the scenarios that its authors wrote for it. The suite
// still offers 2025-11-25 in initialize.
var serverRequired20250618 = []string{
	"server-initialize",
	"server-session-lifecycle",
	"logging-set-level",
	"ping",
	"completion-complete",
	"tools-list",
	"tools-call-simple-text",
	"tools-call-image",
	"tools-call-audio",
	"tools-call-embedded-resource",
	"tools-call-mixed-content",
	"tools-call-with-logging",
	"tools-call-error",
	"tools-call-with-progress",
	"tools-call-sampling",
	"tools-call-elicitation",
	"resources-list",
	"resources-read-text",
	"resources-read-binary",
	"resources-templates-read",
	"resources-subscribe",
	"resources-unsubscribe",
	"prompts-list",
	"prompts-get-simple",
	"prompts-get-with-args",
	"prompts-get-embedded-resource",
	"prompts-get-with-image",
}

var (
	serverExtensions20260728 = []string{
		"json-schema-2020-12",
		"http-header-validation",
		"http-custom-header-server-validation",
		"tasks-lifecycle",
		"tasks-capability-negotiation",
		"tasks-wire-fields",
		"tasks-request-state-removal",
		"tasks-mrtr-input",
		"tasks-request-headers",
		"tasks-dispatch-and-envelope",
		"tasks-required-task-error",
		"tasks-mrtr-composition",
	}
	serverExtensions20251125 = []string{
		"server-session-lifecycle",
		"json-schema-2020-12",
		"server-sse-polling",
	}
)

var serverSkills = []string{
	"sep-2640-skills-enumeration",
	"sep-2640-skills-directory",
	"sep-2640-skills-manifest",
}
