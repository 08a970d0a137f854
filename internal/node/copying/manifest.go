package copying

import (
	"math"
	"regexp"
	"slices"

	"adshard/fault"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
)

// fileNames matches the names of the files that a copy consists of. Other files of a checkpoint
// (options, the store's own identity) are recreated when the copy is opened.
var fileNames = regexp.MustCompile(`^(CURRENT|MANIFEST-[0-9]{1,20}|[0-9]{1,20}\.(sst|log))$`)

// want describes the wanted copy.
type want struct {
	database string // "" means any
	format   uint32
	words    string
}

// checkContents returns an error if the source's store cannot be used. Errors: fault.Conflict for
// another database, fault.Version.
func (w *want) checkContents(op, database string, format uint32, words string) error {
	switch {
	case w.database != "" && database != w.database:
		return fault.Newf(fault.Conflict, op, "the store to be copied holds data of database %q, not of %q; copy from a slave of the same database",
			database, w.database)
	case format != w.format:
		return fault.Newf(fault.Version, op, "the store to be copied has format version %d, the slave to be filled does not read it; copy from a slave of the same version of the program, or let the slave fill itself from the database",
			format)
	case words != w.words:
		return fault.Newf(fault.Version, op, "the words of the store to be copied are of version %q, those of the slave to be filled of %q; copy from a slave of the same version of the program, or let the slave fill itself from the database",
			words, w.words)
	}
	return nil
}

// checkManifest returns the total size of a source's files, or an error if the list cannot be used.
// A name decides where a file is written, so only the names of a store's files are accepted.
func checkManifest(m *pb.OpenCopyResponse) (total uint64, err error) {
	const op = "copying: check files"
	seen := make(map[string]bool, len(m.GetFiles()))
	for _, f := range m.GetFiles() {
		switch {
		case !fileNames.MatchString(f.GetName()):
			return 0, fault.Newf(fault.Invalid, op, "the source offers a file %q, which is none of a store", f.GetName())
		case seen[f.GetName()]:
			return 0, fault.Newf(fault.Invalid, op, "the source offers the file %s twice", f.GetName())
		case f.GetSize() > wire.MaxPieces*PieceBytes || f.GetSize() > math.MaxInt64-total:
			return 0, fault.Newf(fault.Invalid, op, "the source offers the file %s of %d bytes; no file of a store has as many", f.GetName(), f.GetSize())
		}
		seen[f.GetName()] = true
		total += f.GetSize()
	}
	manifest := slices.ContainsFunc(m.GetFiles(), func(f *pb.CopyFile) bool { return f.GetName()[0] == 'M' })
	if !seen["CURRENT"] || !manifest {
		return 0, fault.Newf(fault.Invalid, op, "the source offers %d files, and no CURRENT or MANIFEST among them", len(m.GetFiles()))
	}
	if m.GetLease() == 0 || m.GetPosition().GetClock() == 0 {
		return 0, fault.Newf(fault.Invalid, op, "the source names no lease or no position")
	}
	return total, nil
}
