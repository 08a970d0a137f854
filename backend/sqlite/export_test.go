package sqlite

// What a restore does in steps, for tests that end between two.
var (
	LinkLogs = linkLogs
	Place    = place
)

// Stepped has f called after each step of making keys anew.
func (o *Options) Stepped(f func()) { o.stepped = f }

// RekeyEnv names the database whose keys a child process of a test makes anew.
const RekeyEnv = rekeyEnv
