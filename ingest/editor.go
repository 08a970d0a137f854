package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"adshard/backend"
	"adshard/ingest/rejected"
	"adshard/ingest/textfile"
	"adshard/ingest/values"
	"adshard/search/words"
)

// editorSource reads a Google Ads Editor file.
type editorSource struct {
	file       string
	records    *textfile.Reader
	header     *layout // the same for all rows; tales share it
	advertiser string  // of the whole file, or "" if the column Account names it
	words      words.Analyser
	names      [colAdGroup + 1]string // of the last row, so that equal names share memory
	numbers    map[string]string      // account numbers by account name
	types      typeUse
	foreign    *campaignTypes
	kinds      kindNames
	usage      usage
	qualities  Note
	zones      values.Zones
	identity   identity
	now        time.Time
	places     *placeBook
	location   bool                  // the row names a place or circle
	restricts  map[string]*rowExtras // the extras of skipped rows, by kind
	showing    bool                  // rejects include their cells
	row        editorRow
}

// newEditorSource reads the header of src. advertiser is the advertiser of the whole file if the file has no column
// Account.
func newEditorSource(src io.Reader, file, advertiser string) (*editorSource, error) {
	utf, err := textfile.Decode(src)
	if err != nil {
		return nil, err
	}
	s := &editorSource{file: file, records: textfile.NewReader(utf), foreign: &campaignTypes{}, places: builtInPlaces()}
	s.row.layout, err = readHeader(s.records, advertiser == "")
	if err != nil {
		return s, err
	}
	header := s.row.layout
	s.header = &header
	s.usage = newUsage(s.header)
	if s.row.layout.cell[colAccount] < 0 {
		s.advertiser = advertiser
	}
	return s, nil
}

func (s *editorSource) tell() tale {
	t := tale{layout: s.header, unused: s.usage.take(), qualities: s.qualities}
	s.qualities = Note{}
	return t
}

func (s *editorSource) position() (record, line int64) { return s.records.Record, s.records.Line }

func (s *editorSource) column(_ *entry, of kind) string {
	if of == kindAdvertiser {
		return colAccount.String()
	}
	return colCampaign.String()
}

func (s *editorSource) next(e *entry) error {
	*e = entry{}
	for {
		cells, err := s.records.Next()
		e.record = s.records.Record
		switch {
		case errors.Is(err, textfile.ErrTooLong):
			e.reject = &rejected.Row{File: s.file, Record: e.record, Reason: err.Error()}
			s.row.cells, s.row.err = s.records.Begun(), nil
			s.shutsCampaign(e)
			return nil
		case err != nil:
			return err
		case len(cells) == 1 && len(bytes.TrimSpace(cells[0])) == 0:
			continue // a blank line
		}
		s.row.cells, s.row.err = cells, nil
		s.identity.add(cells...)
		if e.reject = s.checkWidth(e.record); e.reject == nil {
			s.read(e)
		} else {
			s.guessOwners(e)
		}
		if e.reject != nil {
			s.shutsCampaign(e)
		}
		s.mayBeRenamed(e)
		if e.reject == nil && e.skipped == "" {
			s.usage.count(e.kind, s.row.cells, s.records.Filled)
		}
		if e.reject != nil && s.showing {
			e.cells = s.row.rowCells(e.reject)
		}
		return nil
	}
}

// checkWidth rejects a row with cells beyond the last column, and a truncated last row. Empty cells at the end of a
// row may be missing.
func (s *editorSource) checkWidth(record int64) *rejected.Row {
	width := s.row.layout.width()
	for i := width; i < len(s.row.cells); i++ {
		if len(s.row.cells[i]) > 0 {
			why := fmt.Sprintf("%d cells, the header has %d: quote a cell that contains a separator", len(s.row.cells), width)
			return &rejected.Row{File: s.file, Record: record, Column: cellName(i), Reason: rejected.Found(why, string(s.row.cells[i]))}
		}
	}
	if s.records.Unended && len(s.row.cells) < width {
		why := fmt.Sprintf("the last row has %d of %d cells and no line end: was the file cut off?", len(s.row.cells), width)
		last := len(s.row.cells) - 1
		return &rejected.Row{File: s.file, Record: record, Column: cellName(last), Reason: rejected.Found(why, string(s.row.cells[last]))}
	}
	return nil
}

// cellName names a cell by its index, for reports in which its column does not matter.
func cellName(i int) string { return fmt.Sprintf("cell %d", i+1) }

// read checks the row and fills e.
func (s *editorSource) read(e *entry) {
	if e.skipped = s.noData(); e.skipped != "" {
		return
	}
	if e.skipped = s.otherKindOf(); e.skipped != "" && !s.row.filled(colCampaignType) && s.foreign.none() {
		s.skippedExtras(e)
		return
	}
	e.advertiser = s.account()
	e.campaign = s.name(colCampaign)
	if e.skipped == "" && accountLevel(e.campaign) { // whatever its campaign type is
		s.readAccountLevel(e)
		return
	}
	if s.ofForeignCampaign(e); e.skipped != "" {
		s.skippedExtras(e)
		return
	}
	s.row.layout.cell[colStatus] = s.row.layout.statusOf[ofOwner]
	switch {
	case s.row.filled(colKeyword):
		s.readKeyword(e)
	case s.row.filled(colAdType) || s.row.anyHeadline():
		s.readAd(e)
	case s.row.filled(colAdGroup):
		e.kind = kindGroup
		e.group = s.name(colAdGroup)
		s.groupOwn(&e.groupPatch)
		s.groupCells(e)
	case s.location:
		s.readLocation(e)
	default:
		e.kind = kindCampaign
		s.campaignOwn(&e.campaignPatch)
	}
	s.campaignCells(e)
	s.refuseHidden(e)
	s.readExtras(e)
	s.advertiserAny(&e.advertiserPatch)
	s.refuse(e)
}

// refuse rejects the row if a cell is at fault. A missing ad group does not replace an earlier reject, since what may be
// a negative needs no group.
func (s *editorSource) refuse(e *entry) {
	if s.row.err != nil && (e.reject == nil || s.row.err != errNoGroup) {
		e.reject = &rejected.Row{File: s.file, Record: e.record, Column: s.row.fault.String(),
			Reason: rejected.Found(reason(s.row.err), string(s.row.cell(s.row.fault)))}
	}
}

// groupCells reads the cells that describe the group; rows of any kind may have them.
func (s *editorSource) groupCells(e *entry) {
	p := &e.groupPatch
	p.Status = s.row.status(colAdGroupStatus)
	if e.kind == kindGroup && !s.row.filled(colAdGroupStatus) {
		p.Status = s.ownStatus(e, colAdGroupStatus)
	}
	e.patchesGroup = *p != backend.GroupPatch{}
}

// campaignCells reads the cells that describe the campaign; rows of any kind may have them.
func (s *editorSource) campaignCells(e *entry) {
	p := &e.campaignPatch
	if s.fillsCampaign() {
		s.campaignAny(p, e)
	}
	p.Status = s.row.status(colCampaignStatus)
	if e.kind == kindCampaign && !s.row.filled(colCampaignStatus) {
		p.Status = s.ownStatus(e, colCampaignStatus)
	}
	e.patchesCampaign = *p != backend.CampaignPatch{}
}

// fillsCampaign reports whether the row has a setting of its campaign. Few rows of an export have one.
func (s *editorSource) fillsCampaign() bool {
	return slices.ContainsFunc(s.records.Filled, func(i int) bool { return i < len(s.row.layout.ofCampaign) && s.row.layout.ofCampaign[i] })
}

// ownStatus reads the column Status of a group or campaign row whose own status cell is empty. If an unknown column
// is filled, a row that does not say what it is may be of another kind. Its status may then belong to that kind, so
// it is not used. Unless the file has a column for the owner's status, Status may also be the owner's; then a row is
// accepted only with Enabled, which changes nothing, and rejected otherwise.
func (s *editorSource) ownStatus(e *entry, own column) backend.Status {
	if !s.row.filled(colStatus) {
		return backend.Keep
	}
	if header, ok := s.row.unnamed(); ok && !s.row.saysOwn(e.kind) {
		if s.row.layout.cell[own] < 0 {
			if status := s.row.status(colStatus); status == backend.Pause || status == backend.Remove {
				s.row.note(colStatus, fmt.Errorf("the row may be one of another kind, since column %s is filled: use column %s", rejected.Quote(header), own))
			}
		}
		e.warning = &Warning{File: s.file, Record: e.record, Column: colStatus.String(), Text: fmt.Sprintf(
			"%s is not used, since column %s is filled and may make this a row of another kind; use column %s",
			rejected.Quote(string(s.row.cell(colStatus))), rejected.Quote(header), own)}
		return backend.Keep
	}
	return s.row.status(colStatus)
}

// account returns the row's advertiser: its account name or, if that cell is empty, the cell of the column Account.
func (s *editorSource) account() string {
	switch {
	case s.advertiser != "":
		return s.advertiser
	case !s.row.filled(colAccountName):
		return s.name(colAccount)
	}
	name := s.nameIn(colAccount, colAccountName)
	if number := values.Plain(string(s.row.cell(colAccount))); number != "" {
		if s.numbers == nil {
			s.numbers = make(map[string]string)
		}
		was, ok := s.numbers[name]
		if !ok {
			s.numbers[name] = number
		} else if was != number {
			s.row.note(colAccount, errTwoNumbers)
		}
	}
	return name
}

// note records an error of a column. Only the error of the first column at fault is kept.
func (r *editorRow) note(c column, err error) {
	if err != nil && (r.err == nil || c < r.fault) {
		r.fault, r.err = c, err
	}
}

// name returns the name of an advertiser, campaign or group, whose cell must be filled.
func (s *editorSource) name(c column) string { return s.nameIn(c, c) }

// nameIn is like name, but reads the name from the column `in`.
func (s *editorSource) nameIn(c, in column) string {
	cell := s.row.cell(in)
	if last := s.names[c]; string(cell) == last && last != "" {
		return last
	}
	name := s.row.text(in)
	if name == "" {
		s.row.note(c, [...]error{errNoAccount, errNoCampaign, errNoGroup}[c])
	}
	s.row.note(in, values.CheckName(name))
	if s.row.err == nil {
		s.names[c] = name
	}
	return name
}

var (
	errNoAccount  = errors.New("no advertiser")
	errNoCampaign = errors.New("no campaign")
	errNoGroup    = errors.New("no ad group")

	errTwoNumbers = errors.New("an earlier row has this account name with another number: rename one of the two accounts")
)
