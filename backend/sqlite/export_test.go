package sqlite

// What a restore does in steps, for tests that end between two.
var (
	LinkLogs = linkLogs
	Place    = place
)
