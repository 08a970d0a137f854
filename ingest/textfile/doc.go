// Package textfile reads tables and lines from text files as programs save them: in UTF-8 or UTF-16 (any other encoding is read as
// invalid text), separated by commas, semicolons or tabs, with quotes and line breaks within cells. It also reads pipes and standard
// input.
//
//	file, err := textfile.Open(ctx, name, os.Stdin)
//	text, err := textfile.Decode(file)
//	records := textfile.NewReader(text)
//	records.Separator = ','
//	cells, err := records.Next()
//
// A file of any size needs only the memory of one record, whose size is bounded. What the cells mean is up to the
// caller.
package textfile
