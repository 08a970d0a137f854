package ingest

import (
	"errors"

	"adshard/backend"
	"adshard/fault"
	"adshard/ingest/rejected"
	"adshard/ingest/textfile"
)

// entry is a checked row, or the reason why it is rejected.
type entry struct {
	record int64 // record or line number in the file
	reject *rejected.Row
	cells  []Cell // of a rejected row, if Options ask for them
	// skipped is the kind of a row that is not imported, or "" if the row is imported.
	skipped string
	// pauses is set on a skipped row whose campaign is to be paused if it exists.
	pauses bool
	// pausing is set on a rejected row that restricts its campaign, so that the campaign is paused.
	pausing bool
	// restricts is set on a row with former names that restricts its campaign; original is the campaign's former name, also
	// of a rejected row that pauses.
	restricts bool
	original  string
	extras    *rowExtras // nil: none
	// warning belongs to a row that is imported.
	warning *Warning
	kind    kind

	advertiser, campaign, group string

	advertiserPatch backend.AdvertiserPatch
	campaignPatch   backend.CampaignPatch
	groupPatch      backend.GroupPatch
	// patchesCampaign and patchesGroup are set if the patch of the campaign or group contains a change.
	patchesCampaign, patchesGroup bool

	// pausedBy is the change that the row makes to holds.
	pausedBy backend.Patch[backend.Hold]

	keyword  backend.KeywordPatch
	negative backend.NegativePatch
	ad       backend.AdPatch
	list     *listLine // of a block list, or nil if the row is not one of a block list
	// location is set on a location row. inactive lists the places that the row names although they are inactive.
	location *locationChange
	inactive []uint32
}

// kind is the kind of an entry's own entity.
type kind uint8

const (
	kindAdvertiser kind = iota
	kindCampaign
	kindGroup
	kindKeyword
	kindGroupNegative
	kindCampaignNegative
	kindAdvertiserNegative
	kindAd
	kindBlocklist
	kindLocation // a target or exclusion of a campaign

	kinds = iota
)

// status returns the new status of the row's own keyword, negative or ad.
func (e *entry) status() backend.Status {
	switch e.kind {
	case kindKeyword:
		return e.keyword.Status
	case kindGroupNegative, kindCampaignNegative, kindAdvertiserNegative:
		return e.negative.Status
	case kindAd:
		return e.ad.Status
	}
	return backend.Keep
}

// removes reports whether the row removes something. Such a row does not create what it names.
func (e *entry) removes() bool {
	return e.advertiserPatch.Status == backend.Remove || e.campaignPatch.Status == backend.Remove ||
		e.groupPatch.Status == backend.Remove || e.status() == backend.Remove || e.location != nil && e.location.removes
}

// source reads the rows of one file.
type source interface {
	// next fills e with the next row, rejected or not. It returns io.EOF after the last row. Any other error ends the
	// file; it is of kind fault.Invalid if the file is at fault.
	next(e *entry) error
	// position returns the record and the line that were read last.
	position() (record, line int64)
	// tell returns what is to be reported about the rows since the last call.
	tell() tale
	// number returns the file's number, which follows from its rows so far. Once returned, it does not change.
	number() uint64
	// column returns the name of the column in which the row names its advertiser or campaign.
	column(e *entry, of kind) string
}

// reason returns the text of an error without the operations that wrap it.
func reason(err error) string {
	var f *fault.Error
	for errors.As(err, &f) {
		err = f.Err
	}
	return err.Error()
}

// openSource opens a file in its format. foreign holds the campaigns that are not for searches, as far as earlier
// files have said.
func openSource(in *textfile.File, o Options, foreign *campaignTypes) (source, error) {
	format := o.Format
	if format == FormatAuto {
		format = sniff(in)
	}
	if format == FormatJSONL {
		s, err := newJSONSource(in, in.Name, o.Advertiser)
		if err == nil {
			s.places = o.places
		}
		return s, err
	}
	s, err := newEditorSource(in, in.Name, o.Advertiser)
	if err == nil {
		s.showing, s.now = o.Rejected != nil, o.Now
		s.foreign = foreign
		if o.places != nil {
			s.places = o.places
		}
	}
	return s, err
}

// sniff detects the format from the first character.
func sniff(in *textfile.File) Format {
	for _, c := range in.Peek(512) {
		switch c {
		case 0xEF, 0xBB, 0xBF, 0xFF, 0xFE, 0, ' ', '\t', '\r', '\n', '[': // an array is rejected line by line
			continue
		case '{':
			return FormatJSONL
		}
		break
	}
	return FormatEditor
}
