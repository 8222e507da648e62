package transport

// Watched returns a channel that is closed when the child has ended and its streams have been cut.
func Watched(c Conn) <-chan struct{} { return c.(*stdioConn).watched }
