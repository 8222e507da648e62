package dashboard

// prefix is the prefix of the dashboards' UIDs.
const prefix = "mcpotel-"

// All returns the dashboards, in the order of their links.
func All() []Dashboard { return []Dashboard{operations, connections, tools, server, frames} }
