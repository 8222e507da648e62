package mcp

// member is the name of an object member that the decoders in this package know, in any object. There are fewer than
// 64 members, so one word can record which members an object has.
type member uint8

const (
	otherMember member = iota
	memberMeta
	memberAnnotations
	memberArguments
	memberAudience
	memberBlob
	memberCacheScope
	memberContent
	memberContents
	memberData
	memberDescription
	memberDestructiveHint
	memberExecution
	memberIcons
	memberID
	memberIdempotentHint
	memberInput
	memberInputResponses
	memberInputSchema
	memberIsError
	memberLastModified
	memberMessages
	memberMIMEType
	memberName
	memberNextCursor
	memberOpenWorldHint
	memberOutputSchema
	memberPriority
	memberReadOnlyHint
	memberRequestState
	memberResource
	memberResultType
	memberRole
	memberSize
	memberSizes
	memberSrc
	memberStructuredContent
	memberTask
	memberTaskSupport
	memberText
	memberTheme
	memberTitle
	memberTools
	memberToolUseID
	memberTTLMs
	memberType
	memberURI
	members // number of members
)

var memberNames = [members]string{
	memberMeta:              "_meta",
	memberAnnotations:       "annotations",
	memberArguments:         "arguments",
	memberAudience:          "audience",
	memberBlob:              "blob",
	memberCacheScope:        "cacheScope",
	memberContent:           "content",
	memberContents:          "contents",
	memberData:              "data",
	memberDescription:       "description",
	memberDestructiveHint:   "destructiveHint",
	memberExecution:         "execution",
	memberIcons:             "icons",
	memberID:                "id",
	memberIdempotentHint:    "idempotentHint",
	memberInput:             "input",
	memberInputResponses:    "inputResponses",
	memberInputSchema:       "inputSchema",
	memberIsError:           "isError",
	memberLastModified:      "lastModified",
	memberMessages:          "messages",
	memberMIMEType:          "mimeType",
	memberName:              "name",
	memberNextCursor:        "nextCursor",
	memberOpenWorldHint:     "openWorldHint",
	memberOutputSchema:      "outputSchema",
	memberPriority:          "priority",
	memberReadOnlyHint:      "readOnlyHint",
	memberRequestState:      "requestState",
	memberResource:          "resource",
	memberResultType:        "resultType",
	memberRole:              "role",
	memberSize:              "size",
	memberSizes:             "sizes",
	memberSrc:               "src",
	memberStructuredContent: "structuredContent",
	memberTask:              "task",
	memberTaskSupport:       "taskSupport",
	memberText:              "text",
	memberTheme:             "theme",
	memberTitle:             "title",
	memberTools:             "tools",
	memberToolUseID:         "toolUseId",
	memberTTLMs:             "ttlMs",
	memberType:              "type",
	memberURI:               "uri",
}

// memberTable finds a member by the hash of its name. No two names have the same hash. A test checks this and
// explains how to fix a collision.
var memberTable = func() (table [memberHashes]member) {
	for m := otherMember + 1; m < members; m++ {
		table[memberHash([]byte(memberNames[m]))] = m
	}
	return table
}()

const memberHashes = 128

func memberHash(name []byte) int {
	return (8*len(name) + 59*int(name[0]) + int(name[len(name)/2])) % memberHashes
}

// memberOf returns the member with this name, or otherMember if the decoders do not know it.
func memberOf(name []byte) member {
	if len(name) == 0 {
		return otherMember
	}
	m := memberTable[memberHash(name)]
	if memberNames[m] != string(name) {
		return otherMember
	}
	return m
}
