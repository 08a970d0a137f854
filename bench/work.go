package bench

import (
	"os"

	"adshard/internal/outfile"
)

// workDir is a flag for the directory in which a command works. What the command makes there for a while has a directory of its own
// with a new name; what it keeps has a name that says what it is. "": that of temporary files.
type workDir string

func (d *workDir) String() string { return string(*d) }

// Set implements pflag.Value. It refuses a slave's store, a backup, a file, and a name that belongs to a database
// (fault.Invalid).
func (d *workDir) Set(path string) error {
	*d = workDir(path)
	return outfile.CheckDir(path, false)
}

// Type implements pflag.Value.
func (d *workDir) Type() string { return "string" }

// temporary makes a directory in it, and it if it is missing; remove removes that directory.
func (d *workDir) temporary(name string) (dir string, remove func() error, err error) {
	if *d != "" {
		if err := outfile.MakeDir(string(*d)); err != nil {
			return "", nil, err
		}
	}
	return temporaryIn(string(*d), name)
}

// temporaryIn makes a directory in another one, "" being that of temporary files; remove removes it.
func temporaryIn(parent, name string) (dir string, remove func() error, err error) {
	dir, err = os.MkdirTemp(parent, name+"-")
	return dir, func() error { return os.RemoveAll(dir) }, err
}
