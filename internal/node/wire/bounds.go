package wire

import (
	"maps"

	"adshard/backend"
	"adshard/events/token"
	"adshard/search"
	"adshard/targeting"
)

// Bounds that several fields share. Bounds of data are far above what imports accept, since any
// program may write to the database, and everything that a distributor can read there must be able
// to reach the slaves.
const (
	// MaxName bounds the name of a slave, master or distributor, and MaxAddress bounds a HOST:PORT,
	// both in bytes.
	MaxName    = 200
	MaxAddress = 300
	// MaxZone bounds the name of a zone, in bytes.
	MaxZone = 64
	// MaxNodes bounds a list of slaves.
	MaxNodes = 4096
	// MaxTenant bounds the name of the tenant of a search, in bytes. TraceBytes is the size of a
	// trace context.
	MaxTenant  = 64
	TraceBytes = 25
	// MaxSlices bounds a table of slices.
	MaxSlices = 1 << 18
	// PieceBytes is the size of a piece of a copied file, and MaxPieces bounds the number of a
	// file's pieces. MaxToken bounds the secret of a copying slave, in bytes.
	PieceBytes = 1 << 20
	MaxPieces  = 1 << 20
	MaxToken   = 64

	maxIncarnation = 64
	maxDocument    = 128 // the name of a document
	maxID          = 64  // of a database or a timeline
	maxOrigin      = 1 << 10
	maxOrder       = 1 << 5
	maxState       = 32 << 20 // an encoded balance.State with MaxSlices
	maxReplicas    = 64
	maxOps         = 1 << 20
	maxHot         = 1 << 12 // items, topics or pairs of a load report
	maxCertified   = 64      // bins of a certificate
	maxParents     = 1 << 20 // of a certificate, which covers at most a whole slice
	maxFiles       = 1 << 16 // of a store
	maxHits        = search.MaxPlacements * 2 * MaxSlots
	maxLacking     = 4 << 10
	maxPlaces      = 1 << 12     // of a request, including the places around them
	maxMatches     = 1 << 14     // in an explanation
	maxWord        = 64          // of a word from a fixed vocabulary, in bytes
	maxWords       = 1 << 20     // of a keyword, as hashes or with their agreement
	maxWordRules   = 1 << 10     // version of words, which names all languages
	maxVocabulary  = 64          // version of a vocabulary
	maxText        = 1 << 24     // any text of the database
	maxPiece       = 2 * maxText // of data to be shown, as JSON
	maxFew         = 1 << 12     // anything of which an ad, a campaign or a keyword has a few
	maxEntries     = 1 << 20     // of a bucket
	maxHeld        = 1 << 22     // negatives of one owner, or keywords in one message
	maxPart        = 1 << 18     // keywords in a part
)

// bound limits a field: `bytes` for each text, and `entries` for a list. The one that does not
// apply is 0.
type bound struct{ bytes, entries int }

func text(bytes int) bound           { return bound{bytes: bytes} }
func list(entries int) bound         { return bound{entries: entries} }
func texts(entries, bytes int) bound { return bound{bytes: bytes, entries: entries} }

// boundOf returns the bound of a field, and the key under which it is found: the field's own, or
// the one for its name in any message.
func boundOf(all map[string]bound, message, field string) (key string, b bound) {
	key = message + "." + field
	b, own := all[key]
	if !own {
		key = "*." + field
		b = all[key]
	}
	return key, b
}

// bounds returns the bounds of every text and every list in every message, so that no peer can make
// this process keep more than it should. A text or list that is not listed is refused unless it is
// empty. Numbers are checked when messages are converted.
func bounds() map[string]bound {
	all := map[string]bound{ // in all files
		"*.database": text(maxID),
		"*.timeline": text(maxID),
	}
	for _, some := range []map[string]bound{
		controlBounds(), dataBounds(), recordBounds(), queryBounds(), copyBounds(),
		callBounds(), searchBounds(), contextBounds(), explainBounds(), streamBounds(),
	} {
		maps.Copy(all, some)
	}
	return all
}

// controlBounds returns the bounds of control.proto.
func controlBounds() map[string]bound {
	return map[string]bound{
		"RegisterRequest.name":             text(MaxName),
		"RegisterRequest.address":          text(MaxAddress),
		"RegisterRequest.incarnation":      text(maxIncarnation),
		"RegisterRequest.zone":             text(MaxZone),
		"RegisterResponse.distributor":     text(MaxAddress),
		"PullRequest.name":                 text(MaxName),
		"PartRequest.name":                 text(MaxName),
		"PartRequest.incarnation":          text(maxIncarnation),
		"PartResponse.keywords":            list(maxPart),
		"PullRequest.incarnation":          text(maxIncarnation),
		"ReportRequest.name":               text(MaxName),
		"ReportRequest.incarnation":        text(maxIncarnation),
		"VerifyRequest.name":               text(MaxName),
		"VerifyRequest.incarnation":        text(maxIncarnation),
		"ReportResponse.distributor":       text(MaxAddress),
		"SlaveState.trouble":               text(4 << 10),
		"SlaveState.lacking":               text(4 << 10),
		"CopyState.source":                 text(MaxName),
		"Copied.source":                    text(MaxName),
		"CopyOrder.shard":                  text(MaxName),
		"CopyOrder.siblings":               list(maxReplicas),
		"WatchMapRequest.master":           text(MaxName),
		"WatchMapRequest.query_url":        text(MaxAddress),
		"WatchMapRequest.vocabulary":       text(maxVocabulary),
		"WatchMapResponse.shards":          list(MaxNodes),
		"Traffic.took":                     list(1 << 8),
		"EventKeysRequest.master":          text(MaxName),
		"EventKeysResponse.keys":           text(4 << 10), // some keys of a hundred bytes
		"WatchDocumentsRequest.name":       text(MaxName),
		"WatchDocumentsRequest.run":        text(maxIncarnation),
		"WatchDocumentsResponse.run":       text(maxIncarnation),
		"WatchDocumentsResponse.documents": list(1 << 12),
		"Document.name":                    text(maxDocument),
		"Document.data":                    text(backend.DocumentPart),
		"DocumentPartRequest.name":         text(MaxName),
		"DocumentPartRequest.document":     text(maxDocument),
		"DocumentPartResponse.data":        text(backend.DocumentPart),
		"QuantaRequest.name":               text(MaxName),
		"QuantaRequest.address":            text(MaxAddress),
		"QuantaRequest.order":              text(maxOrder),
		"QuantaRequest.weights":            list(1 << 16),
		"QuantaResponse.quanta":            list(1 << 12),
		"Quantum.ops":                      list(maxOps),
		"Quantum.model":                    text(maxState),
		"Operation.name":                   text(MaxName),
		"Operation.address":                text(MaxAddress),
		"Operation.zone":                   text(MaxZone),
	}
}

// dataBounds returns the bounds of nodedata.proto and load.proto.
func dataBounds() map[string]bound {
	return map[string]bound{
		// nodedata.proto
		"NodeData.advertisers": list(maxEntries),
		"NodeData.campaigns":   list(maxEntries),
		"NodeData.items":       list(maxEntries),
		"NodeData.words":       text(maxWordRules),
		"NodeData.deleted":     list(maxEntries),
		"NodeData.cleared":     list(MaxSlices),
		"Item.keywords":        list(maxHeld),
		"SliceTable.slices":    list(MaxSlices),
		"SliceTable.origin":    text(maxOrigin),
		"SliceTable.shards":    list(MaxNodes),
		"Shard.name":           text(MaxName),
		"SliceTable.shard":     text(MaxName),
		"Shard.replicas":       list(maxReplicas),
		"Replica.name":         text(MaxName),
		"Replica.address":      text(MaxAddress),
		"Replica.zone":         text(MaxZone),

		// load.proto
		"Load.slices": list(MaxSlices),
		"Load.items":  list(maxHot),
		"Load.topics": list(maxHot),
		"Load.pairs":  list(maxHot),
	}
}

// recordBounds returns the bounds of records.proto.
func recordBounds() map[string]bound {
	return map[string]bound{
		"Advertiser.name":       text(maxText),
		"Advertiser.negatives":  list(maxHeld),
		"Campaign.name":         text(maxText),
		"Campaign.negatives":    list(maxHeld),
		"Campaign.languages":    texts(maxFew, maxText),
		"Group.name":            text(maxText),
		"Group.negatives":       list(maxHeld),
		"Group.ads":             list(maxHeld),
		"Ad.headlines":          texts(maxFew, maxText),
		"Ad.descriptions":       texts(maxFew, maxText),
		"Ad.path1":              text(maxText),
		"Ad.path2":              text(maxText),
		"Ad.final_url":          text(maxText),
		"Negative.text":         text(maxText),
		"Negative.norm":         list(maxWords),
		"Keyword.final_url":     text(maxText),
		"Keyword.text":          text(maxText),
		"Keyword.norm":          list(maxWords),
		"Keyword.fold":          list(maxWords),
		"Keyword.forms":         list(maxFew),
		"Form.language":         text(maxText),
		"Form.terms":            list(maxWords),
		"Advertiser.categories": texts(maxFew, maxText),
		"Advertiser.time_zone":  text(maxText),
		"Targeting.schedule":    list(maxFew),
		"Targeting.locations":   list(maxHeld),
		"Targeting.categories":  texts(maxFew, maxText),
		"Audiences.target":      list(maxHeld),
		"Audiences.observe":     list(maxHeld),
		"Audiences.exclude":     list(maxHeld),
		"Segment.id":            text(maxText),
		"Sites.include":         list(maxHeld),
		"Sites.exclude":         list(maxHeld),
		"Site.host":             text(maxText),
		"Site.path":             text(maxText),
	}
}

// callBounds returns the bounds of all calls in search.proto other than searches and explanations.
func callBounds() map[string]bound {
	return map[string]bound{
		"AdoptRequest.balancer":      text(16 * MaxAddress),
		"AdoptResponse.name":         text(MaxName),
		"CertifyRequest.parents":     list(maxParents),
		"DiscardRequest.incarnation": text(maxIncarnation),
		"DiscardRequest.reason":      text(4 << 10),
		"CertifyResponse.parents":    list(maxParents),
		"CertifyResponse.counts":     list(maxCertified),
		"CertifyResponse.hash_hi":    list(maxCertified),
		"CertifyResponse.hash_lo":    list(maxCertified),
		"MapResponse.shards":         list(MaxNodes),
		"MapResponse.name":           text(MaxName),
		"MapResponse.shard":          text(MaxName),
	}
}

// searchBounds returns the bounds of searches and answers in search.proto.
func searchBounds() map[string]bound {
	return map[string]bound{
		"Fault.op":                 text(2 * maxMessage), // MaxHeader bounds the whole fault
		"Fault.field":              text(2 * maxMessage),
		"Query.text":               text(search.MaxQueryBytes),
		"Query.norm":               list(search.MaxQueryUnits),
		"Query.fold":               list(search.MaxQueryUnits),
		"Query.terms":              list(maxTerms),
		"Query.senses":             list(maxTerms),
		"Query.words":              list(maxSenses),
		"Query.synonyms":           list(maxSenses),
		"Query.runs":               list(search.MaxQueryRuns),
		"Query.run_words":          list(search.MaxQueryRuns),
		"Query.run_more":           list(search.MaxQueryRuns),
		"Query.misspelt":           list(maxSenses),
		"SearchRequest.profile":    list(maxRules),
		"SearchRequest.request_id": text(maxRequestID),
		"SearchRequest.scorer":     text(scorerBytes),
		"SearchResponse.scorer":    text(scorerBytes),
		"SearchResponse.filtered":  list(search.MaxPlacements),
		"SearchResponse.hits":      list(maxHits),
		"SearchResponse.lacking":   text(maxLacking),
		"Hit.advertiser_name":      text(maxText),
		"Hit.campaign_name":        text(maxText),
		"Hit.group_name":           text(maxText),
		"Hit.keyword_text":         text(maxText),
		"Hit.text":                 text(maxPiece),
		"Hit.shown":                text(maxPiece),
	}
}

// contextBounds returns the bounds of what a search says about the user and the page, in
// search.proto.
func contextBounds() map[string]bound {
	return map[string]bound{
		"Context.places":               list(maxPlaces),
		"Context.languages":            texts(targeting.MaxLanguages, maxWord),
		"Context.audiences":            texts(targeting.MaxAudiences, targeting.MaxSegmentBytes),
		"Context.block_advertisers":    list(2 * targeting.MaxBlocks), // the request's and a placement's (searchapi.page.alone)
		"Context.block_domains":        texts(2*targeting.MaxBlocks, targeting.MaxPageBytes),
		"Context.block_categories":     texts(2*targeting.MaxBlocks, targeting.MaxPageBytes),
		"Context.block_lists":          list(2 * targeting.MaxLists),
		"ListVersion.name":             text(targeting.MaxListName),
		"Page.filters":                 list(search.MaxPlacements),
		"PageFilter.block_advertisers": list(targeting.MaxBlocks),
		"PageFilter.block_domains":     texts(targeting.MaxBlocks, targeting.MaxPageBytes),
		"PageFilter.block_categories":  texts(targeting.MaxBlocks, targeting.MaxPageBytes),
		"PageFilter.block_lists":       list(targeting.MaxLists),
	}
}

// explainBounds returns the bounds of explanations in search.proto.
func explainBounds() map[string]bound {
	return map[string]bound{
		"ExplainResponse.scorer":         text(scorerBytes),
		"Scored.parts":                   list(maxFew),
		"ScoredPart.feature":             text(maxWord),
		"ScoredPart.value":               text(targeting.MaxPageBytes),
		"ExplainResponse.matches":        list(maxMatches),
		"ExplainResponse.counts":         list(maxFew),
		"ContextOutcome.factors":         list(maxFew),
		"ContextCriterion.text":          text(maxText),
		"Explained.words":                list(maxWords),
		"Explained.mismatch_words":       texts(search.MaxQueryUnits, maxText),
		"ExplainRequest.advertiser_name": text(maxText),
		"Explained.defaults":             texts(2*maxFew, maxText),
		"Explained.negative":             text(maxText),
		"Explained.negative_owner":       text(maxText),
		"Agreement.keyword":              text(maxText),
		"Agreement.query":                text(maxText),
	}
}

// streamBounds returns the bounds of the frames of streams in search.proto.
func streamBounds() map[string]bound {
	return map[string]bound{
		"MasterFrame.asks":    list(MaxSearches),
		"MasterFrame.cancels": list(MaxSearches),
		"SlaveFrame.replies":  list(MaxSearches),
		"Hello.name":          text(MaxName),
		"Hello.words":         text(maxWordRules),
		"Ask.tenant":          text(MaxTenant),
		"Ask.trace":           text(TraceBytes),
		"Reply.text":          text(2 * maxMessage),
	}
}

// queryBounds returns the bounds of query.proto.
func queryBounds() map[string]bound {
	return map[string]bound{
		"AdsRequest.q":                   text(search.MaxQueryBytes + 1), // one more than allowed, so that the answer gives the reason as over HTTP
		"AdsRequest.device":              text(maxWord),
		"AdsRequest.variants":            text(maxWord),
		"AdsRequest.request_id":          text(maxID + 1),
		"AdsRequest.min_clock":           text(maxMinClock),
		"AdsRequest.locations":           list(maxFew),
		"AdsRequest.interest_locations":  list(maxFew),
		"AdsRequest.point":               text(maxWord),
		"AdsRequest.time":                text(maxWord),
		"AdsRequest.languages":           texts(maxFew, maxText),
		"AdsRequest.audiences":           texts(maxFew, maxText),
		"AdsRequest.site":                text(maxText),
		"AdsRequest.block":               texts(maxFew, maxText),
		"AdsRequest.block_advertisers":   list(maxFew),
		"AdsRequest.block_domains":       texts(maxFew, maxText),
		"AdsRequest.block_categories":    texts(maxFew, maxText),
		"AdsRequest.placements":          list(search.MaxPlacements + 1),
		"AdsPlacement.id":                text(maxText),
		"AdsPlacement.block":             texts(maxFew, maxText),
		"AdsPlacement.block_advertisers": list(maxFew),
		"AdsPlacement.block_domains":     texts(maxFew, maxText),
		"AdsPlacement.block_categories":  texts(maxFew, maxText),
		"AdsResponse.scorer":             text(maxWord),
		"AdsResponse.placements":         list(search.MaxPlacements),
		"FilledPlacement.id":             text(maxID),
		"FilledPlacement.ads":            list(MaxSlots),
		"FilledPlacement.why":            list(maxFew),
		"PlacementError.code":            text(maxWord),
		"PlacementError.message":         text(maxText),
		"PlacementError.field":           text(maxText),
		"AdsResponse.locations_version":  text(maxText),
		"AdsResponse.vocabulary_version": text(maxVocabulary),
		"AdsResponse.unknown_locations":  list(maxFew),
		"KeptOut.verdict":                text(maxWord),
		"AdsResponse.why":                list(maxFew),
		"AdsResponse.query":              text(search.MaxQueryBytes),
		"AdsResponse.ads":                list(MaxSlots),
		"AdsResponse.request_id":         text(maxID),
		"PlacedAd.advertiser":            text(maxText),
		"PlacedAd.campaign":              text(maxText),
		"PlacedAd.group":                 text(maxText),
		"PlacedAd.keyword":               text(maxText),
		"PlacedAd.match_type":            text(maxWord),
		"PlacedAd.variant":               text(maxWord),
		"PlacedAd.headlines":             texts(maxFew, maxText),
		"PlacedAd.descriptions":          texts(maxFew, maxText),
		"PlacedAd.path":                  text(maxText),
		"PlacedAd.final_url":             text(maxText),
		"PlacedAd.event_token":           text(token.MaxText),
		"Coverage.missing":               list(MaxNodes),
		"MissingShard.name":              text(MaxName),
		"MissingShard.reason":            text(maxWord),
	}
}

// copyBounds returns the bounds of copy.proto.
func copyBounds() map[string]bound {
	return map[string]bound{
		"OpenCopyRequest.token":  text(MaxToken),
		"OpenCopyRequest.name":   text(MaxName),
		"OpenCopyRequest.words":  text(maxWordRules),
		"OpenCopyResponse.name":  text(MaxName),
		"OpenCopyResponse.words": text(maxWordRules),
		"OpenCopyResponse.files": list(maxFiles),
		"CopyFile.name":          text(maxWord),
		"CopySumsResponse.sums":  list(MaxPieces),
		"ReadCopyResponse.data":  text(PieceBytes),
	}
}
