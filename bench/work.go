package bench

import (
	"os"

	"adshard/internal/outfile"
)

// workDir is a flag for the directory in which a command works. Temporary files of the command
// get a directory of their own there, with a new name; files that it keeps get a telling name.
// "" is the system's directory for temporary files.
type workDir string

func (d *workDir) String() string { return string(*d) }

// Set implements pflag.Value. It returns fault.Invalid for a slave's store, a backup, a file,
// and a name that belongs to a database.
func (d *workDir) Set(path string) error {
	*d = workDir(path)
	return outfile.CheckDir(path, false)
}

// Type implements pflag.Value.
func (d *workDir) Type() string { return "string" }

// temporary makes a directory in the working directory, which it also makes if it is missing.
// remove removes the new directory.
func (d *workDir) temporary(name string) (dir string, remove func() error, err error) {
	if *d != "" {
		if err := outfile.MakeDir(string(*d)); err != nil {
			return "", nil, err
		}
	}
	return temporaryIn(string(*d), name)
}

// temporaryIn makes a directory in parent, or in the system's directory for temporary files if
// parent is "". remove removes it.
func temporaryIn(parent, name string) (dir string, remove func() error, err error) {
	dir, err = os.MkdirTemp(parent, name+"-")
	return dir, func() error { return os.RemoveAll(dir) }, err
}
