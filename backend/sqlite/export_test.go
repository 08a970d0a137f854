package sqlite

// Steps of a restore, for tests that end between two of them.
var (
	LinkLogs = linkLogs
	Place    = place
)

// Stepped sets a function that is called after each step of rebuilding keys.
func (o *Options) Stepped(f func()) { o.stepped = f }

// RekeyEnv names the database whose keys a child process of a test rebuilds.
const RekeyEnv = rekeyEnv
