package outfile

import (
	"io/fs"
	"os"
	"path/filepath"

	"adshard/internal/shell"
)

// forOthers has the permissions of users other than the owner.
const forOthers fs.FileMode = 0o077

// Exposed returns the absolute paths of those files and directories that give any permission to users other than
// their owner. Missing ones are left out. The content of directories is not checked: it cannot be reached through a
// closed directory, and Closing closes everything in an open one.
func Exposed(paths []string) (list []string) {
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil || info.Mode()&forOthers == 0 || !info.Mode().IsRegular() && !info.IsDir() {
			continue
		}
		if given, err := filepath.Abs(p); err == nil {
			p = given
		}
		list = append(list, p)
	}
	return list
}

// Closing returns the shell command that makes files and directories, with everything in them, accessible only to
// their owner.
func Closing(paths []string) string {
	command := "chmod -R go="
	for _, p := range paths {
		command += " " + shell.Word(p)
	}
	return command
}
