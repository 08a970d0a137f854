package database

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strconv"
	"strings"

	"adshard/backend"
)

// mostNamed is the most bytes of names of files that are kept as they are.
const mostNamed = 1000

// Migration is the making of the database at url by `adshard db migrate`. It is never completed by another
// run, since its source may have changed.
func Migration(url string) backend.Making {
	return backend.Making{By: "db migrate", Of: rand.Text(), Do: remove(url) + " and migrate again"}
}

// Import is the making of the database at url by `adshard import` of files, which are named as on its command line,
// for the advertiser of files that name none. An import of the same files completes it; one of other files may run at
// the same time.
func Import(url string, files []string, advertiser string) backend.Making {
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = named(f)
	}
	of := strings.Join(names, ", ")
	if advertiser != "" {
		of += " for " + strconv.Quote(advertiser)
	}
	if len(of) > mostNamed {
		sum := sha256.Sum256([]byte(of))
		of = strings.ToValidUTF8(of[:mostNamed], "") + "… " + hex.EncodeToString(sum[:])
	}
	return backend.Making{By: "import", Of: of, Shared: true, Do: "run the import of " + of + " again, or " + remove(url) + " and import again"}
}

// named is a file's absolute name.
func named(file string) string {
	if file == "-" {
		return "standard input"
	}
	if full, err := filepath.Abs(file); err == nil {
		file = full
	}
	if quoted := strconv.Quote(file); strings.ContainsAny(file, " ,") || len(quoted) > len(file)+2 {
		return quoted
	}
	return file
}

// remove says how a database is removed.
func remove(url string) string {
	if IsServer(url) {
		return "remove the schema with the SQL `DROP SCHEMA adshard CASCADE`"
	}
	return "remove the file with its -wal and -shm"
}
