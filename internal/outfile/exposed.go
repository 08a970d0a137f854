package outfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// forOthers are the permissions of users other than the owner.
const forOthers fs.FileMode = 0o077

// Exposed returns the absolute paths of those files and directories that give others than their owner any permission.
// One that is missing is left out. What is in a directory is not looked at: it cannot be reached through a closed
// directory, and Closing closes all of one that is not.
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

// plain is a path that a shell takes as it is.
var plain = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// Closing is the shell command by which files and directories, with all that is in them, become accessible to their
// owner only.
func Closing(paths []string) string {
	command := "chmod -R go="
	for _, p := range paths {
		if !plain.MatchString(p) {
			p = "'" + strings.ReplaceAll(p, "'", `'\''`) + "'"
		}
		command += " " + p
	}
	return command
}
