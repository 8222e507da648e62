package mcp

import (
	"encoding/json"
	"strings"
)

// ClientCapabilities is what a client can do besides the core of the protocol. Legacy clients declare it once, modern
// ones in the _meta of each request, under [MetaClientCapabilities].
// See https://modelcontextprotocol.io/specification/2026-07-28/schema#clientcapabilities.
type ClientCapabilities struct {
	Roots        *RootsCapability       `json:"roots,omitzero"`
	Sampling     *SamplingCapability    `json:"sampling,omitzero"`
	Elicitation  *ElicitationCapability `json:"elicitation,omitzero"` // from 2025-06-18
	Tasks        *TasksCapability       `json:"tasks,omitzero"`       // in 2025-11-25 only
	Extensions   map[string]Object      `json:"extensions,omitzero"`  // settings by name, from 2026-07-28
	Experimental map[string]Object      `json:"experimental,omitzero"`
	Extra        Extra                  `json:",embed"`
}

// ServerCapabilities is what a server can do.
// See https://modelcontextprotocol.io/specification/2026-07-28/schema#servercapabilities.
type ServerCapabilities struct {
	Tools        *ListCapability      `json:"tools,omitzero"`
	Resources    *ResourcesCapability `json:"resources,omitzero"`
	Prompts      *ListCapability      `json:"prompts,omitzero"`
	Completions  Object               `json:"completions,omitzero"` // from 2025-03-26; before that no server declares it
	Logging      Object               `json:"logging,omitzero"`
	Tasks        *TasksCapability     `json:"tasks,omitzero"`      // in 2025-11-25 only
	Extensions   map[string]Object    `json:"extensions,omitzero"` // settings by name, from 2026-07-28
	Experimental map[string]Object    `json:"experimental,omitzero"`
	Extra        Extra                `json:",embed"`
}

// Extra holds the members of a capability that this package does not know.
type Extra map[string]json.RawMessage

// RootsCapability declares that the client answers roots/list.
type RootsCapability struct {
	ListChanged bool  `json:"listChanged,omitzero"` // sends notifications; until 2025-11-25
	Extra       Extra `json:",embed"`
}

// SamplingCapability declares that the client answers sampling/createMessage.
type SamplingCapability struct {
	Context Object `json:"context,omitzero"` // knows [IncludeContext]; from 2025-11-25
	Tools   Object `json:"tools,omitzero"`   // lets the model use tools; from 2025-11-25
	Extra   Extra  `json:",embed"`
}

// ElicitationCapability declares that the client answers elicitation/create: by forms if neither Form nor URL is set.
type ElicitationCapability struct {
	Form  Object `json:"form,omitzero"` // from 2025-11-25
	URL   Object `json:"url,omitzero"`  // from 2025-11-25
	Extra Extra  `json:",embed"`
}

// ListCapability declares that the server has tools, or prompts.
type ListCapability struct {
	ListChanged bool  `json:"listChanged,omitzero"` // sends notifications
	Extra       Extra `json:",embed"`
}

// ResourcesCapability declares that the server has resources.
type ResourcesCapability struct {
	Subscribe   bool  `json:"subscribe,omitzero"`   // single resources can be watched
	ListChanged bool  `json:"listChanged,omitzero"` // sends notifications
	Extra       Extra `json:",embed"`
}

// TasksCapability declares, in 2025-11-25 only, that requests can become tasks.
type TasksCapability struct {
	List   Object `json:"list,omitzero"`   // answers tasks/list
	Cancel Object `json:"cancel,omitzero"` // answers tasks/cancel
	// Requests has the methods that can become tasks, by the parts of their names: Requests["tools"]["call"].
	Requests map[string]map[string]Object `json:"requests,omitzero"`
	Extra    Extra                        `json:",embed"`
}

// Allows reports whether a request of that method, such as tools/call, can become a task.
func (c *TasksCapability) Allows(method string) bool {
	if c == nil {
		return false
	}
	group, name, _ := strings.Cut(method, "/")
	return c.Requests[group][name] != nil
}

// The JSON methods below make encoding/json treat Extra as the JSON library of this module does.

// MarshalJSON encodes the capabilities, Extra among them.
func (c ClientCapabilities) MarshalJSON() ([]byte, error) {
	type plain ClientCapabilities
	return appendValue(nil, plain(c))
}

// UnmarshalJSON decodes the capabilities, what it does not know into Extra.
func (c *ClientCapabilities) UnmarshalJSON(text []byte) error {
	type plain ClientCapabilities
	return decodeValue(text, (*plain)(c))
}

// MarshalJSON encodes the capabilities, Extra among them.
func (c ServerCapabilities) MarshalJSON() ([]byte, error) {
	type plain ServerCapabilities
	return appendValue(nil, plain(c))
}

// UnmarshalJSON decodes the capabilities, what it does not know into Extra.
func (c *ServerCapabilities) UnmarshalJSON(text []byte) error {
	type plain ServerCapabilities
	return decodeValue(text, (*plain)(c))
}

// MarshalJSON encodes the capability, Extra as members of it.
func (c RootsCapability) MarshalJSON() ([]byte, error) {
	type plain RootsCapability
	return appendValue(nil, plain(c))
}

// UnmarshalJSON decodes the capability, what it does not know into Extra.
func (c *RootsCapability) UnmarshalJSON(text []byte) error {
	type plain RootsCapability
	return decodeValue(text, (*plain)(c))
}

// MarshalJSON encodes the capability, Extra as members of it.
func (c SamplingCapability) MarshalJSON() ([]byte, error) {
	type plain SamplingCapability
	return appendValue(nil, plain(c))
}

// UnmarshalJSON decodes the capability, what it does not know into Extra.
func (c *SamplingCapability) UnmarshalJSON(text []byte) error {
	type plain SamplingCapability
	return decodeValue(text, (*plain)(c))
}

// MarshalJSON encodes the capability, Extra as members of it.
func (c ElicitationCapability) MarshalJSON() ([]byte, error) {
	type plain ElicitationCapability
	return appendValue(nil, plain(c))
}

// UnmarshalJSON decodes the capability, what it does not know into Extra.
func (c *ElicitationCapability) UnmarshalJSON(text []byte) error {
	type plain ElicitationCapability
	return decodeValue(text, (*plain)(c))
}

// MarshalJSON encodes the capability, Extra as members of it.
func (c ListCapability) MarshalJSON() ([]byte, error) {
	type plain ListCapability
	return appendValue(nil, plain(c))
}

// UnmarshalJSON decodes the capability, what it does not know into Extra.
func (c *ListCapability) UnmarshalJSON(text []byte) error {
	type plain ListCapability
	return decodeValue(text, (*plain)(c))
}

// MarshalJSON encodes the capability, Extra as members of it.
func (c ResourcesCapability) MarshalJSON() ([]byte, error) {
	type plain ResourcesCapability
	return appendValue(nil, plain(c))
}

// UnmarshalJSON decodes the capability, what it does not know into Extra.
func (c *ResourcesCapability) UnmarshalJSON(text []byte) error {
	type plain ResourcesCapability
	return decodeValue(text, (*plain)(c))
}

// MarshalJSON encodes the capability, Extra as members of it.
func (c TasksCapability) MarshalJSON() ([]byte, error) {
	type plain TasksCapability
	return appendValue(nil, plain(c))
}

// UnmarshalJSON decodes the capability, what it does not know into Extra.
func (c *TasksCapability) UnmarshalJSON(text []byte) error {
	type plain TasksCapability
	return decodeValue(text, (*plain)(c))
}
