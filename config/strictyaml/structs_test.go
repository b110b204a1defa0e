package strictyaml_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/config/strictyaml"
)

// whole names every key, none with its default.
const whole = `name: corner
color: blue
size: 9
stock: 9223372036854775807
open: TRUE
wait: 1m30s
room: 64KiB
password_env: TILL
items: [{id: a}, {id: b, count: 9}]
days: [tue]
prices: {apple: 0, pear: 99}
owner: {nick: bo, key_env: DOOR}
level: middle
plain: 12
point: [a, b]
limits: {top: {id: c}}
`

func TestEveryTypeIsRead(t *testing.T) {
	s, report, err := parse(whole)
	require.NoError(t, err)
	require.Empty(t, report.Warnings())
	require.Empty(t, s.Hidden+s.Never+s.unseen, "fields without a key are left alone")
	require.Equal(t, &shop{
		Name: "corner", Color: "blue", Size: 9, Stock: 9223372036854775807, Open: true, Wait: 90 * time.Second,
		Room: 64 << 10, Password: secret{"canary-till", "environment variable TILL", true},
		Items: []item{{ID: "a"}, {ID: "b", Count: 9}}, Days: []string{"tue"},
		Prices: map[string]int64{"apple": 0, "pear": 99},
		Owner:  owner{Nick: "bo", Key: secret{"canary-door", "environment variable DOOR", true}},
		Level:  2, Plain: "12", Point: point{"a", "b"}, Limits: map[shelf]item{"top": {ID: "c"}},
	}, s)
}

func TestWhatIsNotInTheFileKeepsItsValue(t *testing.T) {
	s, _, err := parse(minimal + "days:\nitems:\nprices:\npoint: ~\n")
	require.NoError(t, err, "empty lists, maps and sections are allowed")
	require.Equal(t, &shop{
		Name: "shop", Color: "red", Size: 3, Wait: time.Minute, Room: 2 << 10, Days: []string{"mon"}, Level: 1,
		Prices: map[string]int64{}, Owner: owner{Key: secret{"canary-door", "environment variable DOOR", true}},
	}, s)
	s, _, err = parse(minimal + "days: []\n")
	require.NoError(t, err)
	require.NotNil(t, s.Days, "an empty list is not an absent one")
	require.Empty(t, s.Days)
}

func TestWhatCannotBeReadKeepsItsValue(t *testing.T) {
	s, _, err := parse(minimal + "size: 10\nwait: 25h\nroom: x\ncolor: pink\nopen: 1\n")
	require.Len(t, problemsFrom(t, err), 5)
	require.Equal(t, []any{3, time.Minute, strictyaml.ByteSize(2 << 10), "red", false},
		[]any{s.Size, s.Wait, s.Room, s.Color, s.Open})
}

// TestEachFaultIsOneProblem proves path, line and both sentences, and that no fault is reported
// twice under another name. Each text is the third line of a file.
func TestEachFaultIsOneProblem(t *testing.T) {
	const (
		whole    = "Write a plain whole number, such as 8."
		duration = "Write a number with a unit, such as 500ms, 5s, 2m or 24h."
		size     = "Write a whole number with a unit, such as 64KiB or 4MiB."
		keys     = "name, color, size, stock, open, wait, room, picture, password_env, password_file, items, days, " +
			"prices, owner, level, plain, point, limits"
	)
	rows := []struct{ text, path, message, fix string }{
		{"sise: 1", "sise", "There is no such key here.", "Did you mean size?"},
		{"Size: 1", "Size", "There is no such key here.", "Did you mean size?"},
		{"unseen: a", "unseen", "There is no such key here.", "Remove it. The keys here are " + keys + "."},
		{"Hidden: a", "Hidden", "There is no such key here.", "Remove it. The keys here are " + keys + "."},
		{"password_evn: A", "password_evn", "There is no such key here.", "Did you mean password_env?"},
		{"name: other", "name", "The key is given twice.", "Remove one of the two."},
		{"<<: {size: 1}", "<<", "Merge keys are not supported.", "Write the keys out."},
		{"[a]: b", "", "A key is a list, a section or an alias.", "Write keys as plain words."},

		{"size:", "size", "The value is empty.", whole + " Or remove the key."},
		{"size: many", "size", "The value is not a plain whole number.", whole},
		{"size: '3'", "size", "The value is not a plain whole number.", whole},
		{"size: 1.5", "size", "The value is not a plain whole number.", whole},
		{"size: 03", "size", "The value is not a plain whole number.", whole},
		{"size: 0o3", "size", "The value is not a plain whole number.", whole},
		{"size: 0x3", "size", "The value is not a plain whole number.", whole},
		{"stock: 1_000", "stock", "The value is not a plain whole number.", whole},
		{"stock: 9223372036854775808", "stock", "The value is not a plain whole number.", whole},
		{"size: [1]", "size", "This is a single value, not a list.", whole},
		{"size: 0", "size", "The value is too small.", "Write at least 1."},
		{"size: 10", "size", "The value is too large.", "Write at most 9."},

		{"open: yes", "open", "This is true or false, not text.", "Write true or false."},
		{"open: 1", "open", "This is true or false, not a number.", "Write true or false."},
		{"open: ~", "open", "The value is empty.", "Write true or false. Or remove the key."},

		{"wait: 5", "wait", "The value is not a duration.", duration},
		{"wait: 0", "wait", "The value is not a duration.", duration},
		{"wait: '5'", "wait", "The value is not a duration.", duration},
		{"wait: 1d", "wait", "The value is not a duration.", duration},
		{"wait: 999ms", "wait", "The value is too small.", "Write at least 1s."},
		{"wait: -5s", "wait", "The value is too small.", "Write at least 1s."},
		{"wait: 24h1ns", "wait", "The value is too large.", "Write at most 24h."},
		{"wait: {a: b}", "wait", "This is a single value, not a section with keys.", duration},

		{"room: 64KB", "room", "The value is not a size in bytes.", size},
		{"room: 1023", "room", "The value is too small.", "Write at least 1KiB."},
		{"room: 1025KiB", "room", "The value is too large.", "Write at most 1MiB."},
		{"room:", "room", "The value is empty.", size + " Or remove the key."},

		{"level: loud", "level", "The value is not a level.", "Write none, low, middle or high."},
		{"level: none", "level", "The value is too small.", "Write at least low."},
		{"level: high", "level", "The value is too large.", "Write at most middle."},
		{"plain: bad", "plain", "The value is bad.", "See the description of the key."},

		{"color: 5", "color", "This is text, but YAML reads it as a number.", "Put it in quotes."},
		{"color: true", "color", "This is text, but YAML reads it as true or false.", "Put it in quotes."},
		{"color: 2026-01-02", "color", "This is text, but YAML reads it as a date.", "Put it in quotes."},
		{"color: !x red", "color", "This is text, but YAML reads it as a tagged value.", "Put it in quotes."},
		{"color:", "color", "The value is empty.", "Write text. Or remove the key."},
		{"color: gren", "color", "The value is not one of those that are allowed.",
			"Did you mean green? It is one of red, green, blue."},
		{"color: silver", "color", "The value is not one of those that are allowed.", "It is one of red, green, blue."},

		{"items: none", "items", "This is a list, not text.", "Write it in brackets, or one item a line after a dash."},
		{"items: [none]", "items[0]", "This is a section with keys, not text.", "Write its keys below it, indented."},
		{"items: [{id: a}, {count: 1}]", "items[1].id", "The key is missing.", "Add id: The item's id."},
		{"items: [{idd: a}]", "items[0].idd", "There is no such key here.", "Did you mean id?"},
		{"items: [{id: a, count: 10}]", "items[0].count", "The value is too large.", "Write at most 9."},
		{"days: [mon, wed]", "days[1]", "The value is not one of those that are allowed.", "It is one of mon, tue."},
		{"days: [mon, ~]", "days[1]", "The value is empty.", "Write text. Or remove the key."},

		{"prices: {apple: 100}", "prices.apple", "The value is too large.", "Write at most 99."},
		{"prices: {Apple: 1}", "prices.Apple", "The key has a form that is not allowed.", "Write an item's name."},
		{"prices: [1]", "prices", "This is a section with keys, not a list.", "Write its keys below it, indented."},
		{"limits: {top: {}}", "limits.top.id", "The key is missing.", "Add id: The item's id."},

		{"point: a", "point", "A point is not text.", "Write [x, y] in place of a."},
		{"point: [a]", "point", "A point has two parts.", "Write [x, y]."},
		{"point: [a, 1]", "point[1]", "This is text, but YAML reads it as a number.", "Put it in quotes."},
		{"point: {up: a}", "point.up", "There is no such direction.", "Write east or north."},

		{"picture: absent.png", "picture", "The file does not exist.",
			"Check the name; a relative one is relative to the configuration file."},
		{"picture: .", "picture", "This is not the name of a regular file.",
			"Check the name; a relative one is relative to the configuration file."},
		{"picture: ''", "picture", "The name of the file is empty.", "Write the file's name, or remove the key."},
		{"picture: 5", "picture", "This is text, but YAML reads it as a number.", "Put it in quotes."},

		{`"a\nb": 1`, `a\nb`, "There is no such key here.", "Remove it. The keys here are " + keys + "."},
	}
	for _, row := range rows {
		t.Run(row.text, func(t *testing.T) {
			want := strictyaml.Problem{Path: row.path, Line: 3, Message: row.message, Fix: row.fix}
			if row.path == "" {
				want.Line = 1 // the section's
			}
			require.Equal(t, []strictyaml.Problem{want}, problemsOf(t, minimal+row.text+"\n"))
		})
	}
}

// What is missing is on the line of the section where it is missing.
func TestMissingKeys(t *testing.T) {
	require.Equal(t, []strictyaml.Problem{
		{Path: "name", Line: 1, Message: "The key is missing.", Fix: "Add name: The shop's name."},
		{Path: "owner.key_env", Line: 2, Message: "Neither key_env nor key_file is given.",
			Fix: "Add key_env with the name of the environment variable that holds the secret."},
	}, problemsOf(t, "size: 1\nowner: {}\n"))
	require.Equal(t, []strictyaml.Problem{
		{Path: "nam", Line: 1, Message: "There is no such key here.", Fix: "Did you mean name?"},
	}, problemsOf(t, "nam: shop\nowner: {key_env: DOOR}\n"), "the key that was meant is not missing too")
	require.Equal(t, []string{"name", "nam"}, paths(problemsOf(t, "name: A\nnam: b\nowner: {key_env: DOOR}\n")),
		"a key that is given is checked although another one is like it")
}

func TestEverythingIsReportedAtOnceByLine(t *testing.T) {
	problems := problemsOf(t, "wait: 1\nowner: {key_env: NONE, nick: B}\nsize: 1\nsize: 2\nitems: [a]\ncolr: red\n")
	require.Equal(t, []string{"wait", "name", "owner.nick", "owner.key_env", "size", "items[0]", "colr"},
		paths(problems))
	require.Equal(t, []int{1, 1, 2, 2, 4, 5, 6}, lines(problems))
}

func TestProblemsOfOneLineHaveOneOrder(t *testing.T) {
	const file = "{name: shop, owner: {key_env: DOOR}, zh: 1, zg: 1, zf: 1, ze: 1, zd: 1, zc: 1, zb: 1, za: 1}"
	problems := problemsOf(t, file)
	require.Equal(t, []string{"za", "zb", "zc", "zd", "ze", "zf", "zg", "zh"}, paths(problems))
}

func paths(list []strictyaml.Problem) (of []string) {
	for _, p := range list {
		of = append(of, p.Path)
	}
	return of
}

func lines(list []strictyaml.Problem) (of []int) {
	for _, p := range list {
		of = append(of, p.Line)
	}
	return of
}

func TestTagsOfAMethod(t *testing.T) {
	require.Equal(t, []strictyaml.Problem{
		{Path: "owner.nick", Line: 2, Message: "The value has a form that is not allowed.",
			Fix: "Write two small letters."},
	}, problemsOf(t, "name: shop\nowner: {key_env: DOOR, nick: Bo}\n"))
	require.Equal(t, "Nickname.", strictyaml.Schema(&owner{}).Properties["nick"].Description,
		"the field's own tag goes first")
}

func TestSkippedKeysAreTheCallers(t *testing.T) {
	root, report := strictyaml.Parse([]byte("kind: 5\nid: a\nidd: b\n"), strictyaml.Options{})
	var i item
	root.Struct(&i, "kind", "id")
	require.Empty(t, i.ID, "a field can be skipped")
	problems := problemsFrom(t, report.Err(""))
	require.Equal(t, []string{"idd"}, paths(problems))
	root, report = strictyaml.Parse([]byte("colour: 5\n"), strictyaml.Options{})
	root.Struct(&i, "kind", "id")
	require.Equal(t, "Remove it. The keys here are id, count, kind.", problemsFrom(t, report.Err(""))[0].Fix,
		"each is listed once")
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.png"), nil, 0o600))
	read := func(text string, o strictyaml.Options) (strictyaml.File, error) {
		var into struct {
			Picture strictyaml.File `yaml:"picture"`
		}
		root, report := strictyaml.Parse([]byte("picture: "+text), o)
		root.Struct(&into)
		return into.Picture, report.Err("")
	}
	for _, text := range []string{"a.png", filepath.Join(dir, "a.png")} {
		f, err := read(text, strictyaml.Options{Dir: dir})
		require.NoError(t, err)
		require.Equal(t, strictyaml.File(filepath.Join(dir, "a.png")), f)
	}
	f, err := read("b.png", strictyaml.Options{Dir: dir, NoLookup: true})
	require.NoError(t, err, "nothing is looked at")
	require.Equal(t, strictyaml.File(filepath.Join(dir, "b.png")), f)
}

// Errors of the program are panics, for the reader and for the schema.
func TestErrorsOfTheProgramPanic(t *testing.T) {
	read := func(into any) func() {
		return func() {
			root, _ := strictyaml.Parse([]byte("a: 5\nb: {c: d}\n"), strictyaml.Options{})
			root.Struct(into, "b")
		}
	}
	type noReader struct {
		A float64 `yaml:"a"`
	}
	type badBound struct {
		A int `yaml:"a" min:"few"`
	}
	require.PanicsWithValue(t, "strictyaml: no way to read float64", read(&noReader{}))
	require.PanicsWithValue(t, "strictyaml: no way to describe float64", func() { strictyaml.Schema(&noReader{}) })
	message := `strictyaml: the min or max tag "few" cannot be read: invalid syntax`
	require.PanicsWithValue(t, message, read(&badBound{}))
	require.PanicsWithValue(t, message, func() { strictyaml.Schema(&badBound{}) })
	require.PanicsWithValue(t, "strictyaml: strictyaml_test.strayTags.Tags names a key that no field has",
		read(&strayTags{}))
}

type strayTags struct {
	A int `yaml:"a"`
}

func (strayTags) Tags() strictyaml.Tags { return strictyaml.Tags{"z": `min:"1"`} }
