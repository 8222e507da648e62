package dashboard

// prefix begins the UIDs of the dashboards.
const prefix = "mcpotel-"

// All returns the dashboards, in the order in which they lead to one another.
func All() []Dashboard { return []Dashboard{operations, connections, tools, server, frames} }
