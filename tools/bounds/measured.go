package bounds

const measuredHead = `
## Measured

In these tests, a hostile peer fills the memory of the other end. The garbage collector runs whenever the heap has grown by a
quarter; the test reads the heap after each run, and fails above the limit in the row. All numbers are in MiB. In the rows
of the client, the test itself holds a second copy of the frame. A frame takes its own size, at most 2 MiB more, and the size of
its values. The measured maximum is from a developer's machine; go test -v prints it.

| At | Attack | Sent | Measured maximum | Limit | Test |
|---|---|---|---|---|---|
`

// measured are attacks in tests, and their memory in MiB.
var measured = []struct {
	end, attack       string
	sent, peak, limit int
	test              string
}{
	{"client", "one-digit numbers, for CallToolAs with an any", 6, 12, 14, ofResults},
	{"client", "objects of one member, validated with an output schema", 6, 12, 14, ofResults},
	{"client", "empty objects, for a list of large structs", 6, 12, 14, ofResults},
	{"client", "two million values of a completion", 6, 12, 14, ofResults},
	{"client", "unknown members of a result", 12, 24, 26, ofResults},
	{"client", "strings in the sizes of an icon", 6, 12, 14, ofResults},
	{"client", "as many numbers as a value of type any may have", 5, 98, 142, ofResults},
	{"client", "one-digit numbers that become a list of numbers", 6, 50, 68, ofResults},
	{"client", "one long text", 6, 12, 14, ofResults},
	{"client", "notifications for a handler that hangs, at Limits.NotificationBytes of 3 MiB", 24, 7, 17, ofFrames},
	{"client", "updates with long URIs, at the same limit", 24, 9, 18, ofFrames},
	{"client", "requests that wait for a person", 24, 19, 30, ofFrames},
	{"client", "pages of tools with long names or schemas", 24, 13, 21, ofFrames},
	{"client", "fresh results with long URIs", 6, 7, 17, ofFrames},
	{"client", "errors and requests that send the user to URLs", 24, 2, 14, ofFrames},
	{"client", "refused handshakes, late answers, violations, progress", 24, 5, 13, ofFrames},
	{"server", "one-digit numbers, as arguments for a tool with an any", 6, 7, 8, ofArguments},
	{"server", "empty objects as arguments, validated with an input schema", 6, 7, 8, ofArguments},
	{"server", "as many numbers as a value of type any may have", 5, 99, 136, ofArguments},
	{"server", "40 bodies that stop halfway, at Limits.Bodies of 16 MiB", 23, 18, 24, ofBodies},
	{"server", "20 initialize requests with 2 MiB of other data", 41, 8, 15, ofIntroductions},
	{"server", "300 introductions of 59 KiB, at Limits.IntroductionBytes of 2 MiB", 17, 2, 3, ofManyIntroductions},
}

const (
	ofResults           = "mcpclient.TestResultDecodingMemoryIsBounded"
	ofFrames            = "mcpclient.TestRetainedFrameMemoryIsBounded"
	ofBodies            = "mcpserver.TestIncompleteBodiesRespectMemoryLimit"
	ofIntroductions     = "mcpserver.TestInitializeParamsSizeIsLimited"
	ofManyIntroductions = "mcpserver.TestInitializeParamsOfAllSessionsShareOneByteBudget"
	ofArguments         = "mcpserver.TestArgumentDecodingMemoryIsLimited"
)
