package lint

import (
	"slices"
	"testing"

	"adshard/internal/lint/source"
)

// makers lists the functions that create or name files and directories, and so may destroy others. os.MkdirTemp is
// not in it: it always makes a new directory.
var makers = []string{
	"os.Create", "os.CreateTemp", "os.OpenFile", "os.WriteFile", "os.Rename", "os.Mkdir", "os.MkdirAll", "os.Link", "os.Symlink", "os.Truncate", "os.CopyFS",
	"os.OpenRoot", "os.OpenInRoot", "io/ioutil.WriteFile", "syscall.Open", "syscall.Rename", "syscall.Link", "syscall.Creat", "syscall.Mknod",
	"golang.org/x/sys/unix.Open", "golang.org/x/sys/unix.Rename", "golang.org/x/sys/unix.Renameat2",
}

// ownFiles maps the packages that may call makers to the reasons. All others must use internal/outfile, which never
// replaces a file of another kind.
var ownFiles = map[string]string{
	"internal/outfile":         "it is what all others go through",
	"internal/site":            "directories of pages are for everybody to read",
	"barrels/bulk":             "temporary files in the work directory of a store that is built",
	"barrels/rocks":            "files of a store, in its own directory, which it has locked",
	"backend/sqlite":           "SQLite's own files, and copies in directories of their own; a restored database is linked to a free name",
	"backend/fields/gen":       "generated files of the repository",
	"events/store/sqlite":      "SQLite's own file, made empty with its mode",
	"internal/node/database":   "copies of a database, in a directory that is removed",
	"internal/node/copying":    "files of a copy under way, in the directory of a store that it has locked",
	"loadproxy":                "a file without a name",
	"bench":                    "the corpus' database, under a name of its own in --work",
	"bench/cgroup":             "control groups under names of its own, which are files to Linux",
	"bench/cluster":            "logs and a configuration in the directory that a cluster has been given",
	"bench/freshness/creators": "barrels that are built, and their copies, in a directory that it has been given",
	"bench/hotwriters":         "sources in a directory that was made for them",
	"bench/layouts/mapped":     "a store that is measured, in a directory of its own",
	"bench/layouts/pebbledb":   "a store that is measured, in a directory of its own",
	"bench/layouts/rdb":        "a store that is measured, in a directory of its own",
	"bench/peers/lucene":       "files of a peer, in a directory of its own",
	"bench/peers/server":       "files of a peer, in a directory of its own",
	"bench/peers/bleve":        "files of a peer, in a directory of its own",
}

// TestOutputs: only internal/outfile creates files, and packages with a reason in ownFiles.
func TestOutputs(t *testing.T) {
	used := make(map[string]bool)
	for _, p := range read(t).Packages {
		for _, call := range makesFiles(p) {
			if used[p.Path] = true; ownFiles[p.Path] == "" {
				t.Errorf("%s uses %s: outputs go through internal/outfile, which destroys nothing that is not its own", p.Path, call)
			}
		}
	}
	for pkg := range ownFiles {
		if !used[pkg] {
			t.Errorf("%s makes no files: it needs no reason for that", pkg)
		}
	}
}

// makesFiles returns the makers that the production files of a package use.
func makesFiles(p *source.Package) []string {
	if source.TestSupport(p.Path) {
		return nil
	}
	return slices.DeleteFunc(source.Uses(p.Production()), func(used string) bool { return !slices.Contains(makers, used) })
}

// TestOutputsBite: each maker is found, and functions that only read are not.
func TestOutputsBite(t *testing.T) {
	for _, maker := range makers {
		if got := makesFiles(packageThatUses(t, "internal/cli", maker)); !slices.Equal(got, []string{maker}) {
			t.Errorf("%s: %v", maker, got)
		}
	}
	for _, reader := range []string{"os.Open", "os.ReadFile", "os.MkdirTemp", "os.Remove"} {
		if got := makesFiles(packageThatUses(t, "internal/cli", reader)); len(got) > 0 {
			t.Errorf("%s: %v", reader, got)
		}
	}
}
