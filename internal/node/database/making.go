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

// mostNamed bounds the bytes of file names that are stored in full.
const mostNamed = 1000

// Migration describes the making of the database at a URL by `adshard db migrate`. Another run never completes it,
// since its source may have changed.
func Migration(url string) backend.Making {
	return backend.Making{By: "db migrate", Of: rand.Text(), Do: remove(url) + " and migrate again"}
}

// Import describes the making of the database at a URL by `adshard import`. `files` are named as on its command line;
// `advertiser` is the one for files that name none. An import of the same files completes it; an import of other
// files may run at the same time.
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

// named returns the absolute name of a file.
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

// remove returns the instruction how to remove a database.
func remove(url string) string {
	if IsServer(url) {
		return "remove the schema with the SQL `DROP SCHEMA adshard CASCADE`"
	}
	return "remove the file with its -wal and -shm"
}
