package mcp

import (
	"encoding/json"
	"strings"
)

// ClientCapabilities lists the optional features that a client supports. Legacy clients declare them once; modern
// clients send them in the _meta of each request, under [MetaClientCapabilities]. See
// https://modelcontextprotocol.io/specification/2026-07-28/schema#clientcapabilities.
type ClientCapabilities struct {
	Roots        *RootsCapability       `json:"roots,omitzero"`
	Sampling     *SamplingCapability    `json:"sampling,omitzero"`
	Elicitation  *ElicitationCapability `json:"elicitation,omitzero"` // from 2025-06-18
	Tasks        *TasksCapability       `json:"tasks,omitzero"`       // in 2025-11-25 only
	Extensions   map[string]Object      `json:"extensions,omitzero"`  // settings by extension name; from 2026-07-28
	Experimental map[string]Object      `json:"experimental,omitzero"`
	Extra        Extra                  `json:",embed"`
}

// ServerCapabilities lists the features that a server supports. See
// https://modelcontextprotocol.io/specification/2026-07-28/schema#servercapabilities.
type ServerCapabilities struct {
	Tools     *ListCapability      `json:"tools,omitzero"`
	Resources *ResourcesCapability `json:"resources,omitzero"`
	Prompts   *ListCapability      `json:"prompts,omitzero"`
	// from 2025-03-26; older revisions have completions without this capability
	Completions  Object            `json:"completions,omitzero"`
	Logging      Object            `json:"logging,omitzero"`
	Tasks        *TasksCapability  `json:"tasks,omitzero"`      // in 2025-11-25 only
	Extensions   map[string]Object `json:"extensions,omitzero"` // settings by extension name; from 2026-07-28
	Experimental map[string]Object `json:"experimental,omitzero"`
	Extra        Extra             `json:",embed"`
}

// Extra holds members of a capability that this package does not know.
type Extra map[string]json.RawMessage

// RootsCapability declares that the client answers roots/list.
type RootsCapability struct {
	ListChanged bool  `json:"listChanged,omitzero"` // the client sends notifications of changes; until 2025-11-25
	Extra       Extra `json:",embed"`
}

// SamplingCapability declares that the client answers sampling/createMessage.
type SamplingCapability struct {
	Context Object `json:"context,omitzero"` // supports [IncludeContext]; from 2025-11-25
	Tools   Object `json:"tools,omitzero"`   // supports tools in sampling; from 2025-11-25
	Extra   Extra  `json:",embed"`
}

// ElicitationCapability declares that the client answers elicitation/create. With neither Form nor URL, it supports
// forms.
type ElicitationCapability struct {
	Form  Object `json:"form,omitzero"` // from 2025-11-25
	URL   Object `json:"url,omitzero"`  // from 2025-11-25
	Extra Extra  `json:",embed"`
}

// ListCapability declares that the server has tools or prompts.
type ListCapability struct {
	ListChanged bool  `json:"listChanged,omitzero"` // the server sends notifications of changes
	Extra       Extra `json:",embed"`
}

// ResourcesCapability declares that the server has resources.
type ResourcesCapability struct {
	Subscribe   bool  `json:"subscribe,omitzero"`   // clients can subscribe to single resources
	ListChanged bool  `json:"listChanged,omitzero"` // the server sends notifications of changes
	Extra       Extra `json:",embed"`
}

// TasksCapability declares, in 2025-11-25 only, that requests can become tasks.
type TasksCapability struct {
	List   Object `json:"list,omitzero"`   // supports tasks/list
	Cancel Object `json:"cancel,omitzero"` // supports tasks/cancel
	// Requests holds the methods that support tasks, by the two parts of the method name: Requests["tools"]["call"].
	Requests map[string]map[string]Object `json:"requests,omitzero"`
	Extra    Extra                        `json:",embed"`
}

// Allows reports whether a request of the method, such as tools/call, can become a task.
func (c *TasksCapability) Allows(method string) bool {
	if c == nil {
		return false
	}
	group, name, _ := strings.Cut(method, "/")
	return c.Requests[group][name] != nil
}

// The JSON methods below make encoding/json treat Extra in the same way as this module's JSON library.

// MarshalJSON encodes the capabilities, including Extra.
func (c ClientCapabilities) MarshalJSON() ([]byte, error) {
	type plain ClientCapabilities
	return appendValue(nil, plain(c))
}

// UnmarshalJSON decodes the capabilities and puts unknown members into Extra.
func (c *ClientCapabilities) UnmarshalJSON(text []byte) error {
	type plain ClientCapabilities
	return decodeValue(text, (*plain)(c))
}

// MarshalJSON encodes the capabilities, including Extra.
func (c ServerCapabilities) MarshalJSON() ([]byte, error) {
	type plain ServerCapabilities
	return appendValue(nil, plain(c))
}

// UnmarshalJSON decodes the capabilities and puts unknown members into Extra.
func (c *ServerCapabilities) UnmarshalJSON(text []byte) error {
	type plain ServerCapabilities
	return decodeValue(text, (*plain)(c))
}

// MarshalJSON encodes the capability, including Extra.
func (c RootsCapability) MarshalJSON() ([]byte, error) {
	type plain RootsCapability
	return appendValue(nil, plain(c))
}

// UnmarshalJSON decodes the capability and puts unknown members into Extra.
func (c *RootsCapability) UnmarshalJSON(text []byte) error {
	type plain RootsCapability
	return decodeValue(text, (*plain)(c))
}

// MarshalJSON encodes the capability, including Extra.
func (c SamplingCapability) MarshalJSON() ([]byte, error) {
	type plain SamplingCapability
	return appendValue(nil, plain(c))
}

// UnmarshalJSON decodes the capability and puts unknown members into Extra.
func (c *SamplingCapability) UnmarshalJSON(text []byte) error {
	type plain SamplingCapability
	return decodeValue(text, (*plain)(c))
}

// MarshalJSON encodes the capability, including Extra.
func (c ElicitationCapability) MarshalJSON() ([]byte, error) {
	type plain ElicitationCapability
	return appendValue(nil, plain(c))
}

// UnmarshalJSON decodes the capability and puts unknown members into Extra.
func (c *ElicitationCapability) UnmarshalJSON(text []byte) error {
	type plain ElicitationCapability
	return decodeValue(text, (*plain)(c))
}

// MarshalJSON encodes the capability, including Extra.
func (c ListCapability) MarshalJSON() ([]byte, error) {
	type plain ListCapability
	return appendValue(nil, plain(c))
}

// UnmarshalJSON decodes the capability and puts unknown members into Extra.
func (c *ListCapability) UnmarshalJSON(text []byte) error {
	type plain ListCapability
	return decodeValue(text, (*plain)(c))
}

// MarshalJSON encodes the capability, including Extra.
func (c ResourcesCapability) MarshalJSON() ([]byte, error) {
	type plain ResourcesCapability
	return appendValue(nil, plain(c))
}

// UnmarshalJSON decodes the capability and puts unknown members into Extra.
func (c *ResourcesCapability) UnmarshalJSON(text []byte) error {
	type plain ResourcesCapability
	return decodeValue(text, (*plain)(c))
}

// MarshalJSON encodes the capability, including Extra.
func (c TasksCapability) MarshalJSON() ([]byte, error) {
	type plain TasksCapability
	return appendValue(nil, plain(c))
}

// UnmarshalJSON decodes the capability and puts unknown members into Extra.
func (c *TasksCapability) UnmarshalJSON(text []byte) error {
	type plain TasksCapability
	return decodeValue(text, (*plain)(c))
}
