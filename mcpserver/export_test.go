package mcpserver

// NetworkOf returns the transport that c says it runs over.
func NetworkOf(c Conn) string {
	return c.(*streamConn).Network().Transport
}

// ContentIn returns content as a revision has it.
var ContentIn = contentIn
