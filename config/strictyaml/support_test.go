package strictyaml_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/config/strictyaml"
)

// shop has a field of every type, with every tag.
type shop struct {
	Name     string              `yaml:"name,omitempty" required:"true" doc:"The shop's name."`
	Color    string              `yaml:"color" enum:"red|green|blue" doc:"Color of the door."`
	Size     int                 `yaml:"size" min:"1" max:"9" doc:"Number of rooms."`
	Stock    int64               `yaml:"stock" doc:"Number of goods."`
	Open     bool                `yaml:"open" doc:"Whether it is open."`
	Wait     time.Duration       `yaml:"wait" min:"1s" max:"24h" doc:"How long to wait."`
	Room     strictyaml.ByteSize `yaml:"room" min:"1KiB" max:"1MiB" doc:"Room for pictures."`
	Picture  strictyaml.File     `yaml:"picture" doc:"Picture of the shop."`
	Password secret              `yaml:"password" doc:"Password of the till"`
	Items    []item              `yaml:"items" doc:"What it sells."`
	Days     []string            `yaml:"days" enum:"mon|tue" doc:"When it is open."`
	Prices   map[string]int64    `yaml:"prices" min:"0" max:"99" doc:"Prices by item."`
	Owner    owner               `yaml:"owner" doc:"Who owns it."`
	Level    level               `yaml:"level" min:"low" max:"middle" doc:"How loud it is."`
	Plain    plain               `yaml:"plain" doc:"Text without a hint."`
	Point    point               `yaml:"point" doc:"Where it is."`
	Limits   map[shelf]item      `yaml:"limits" doc:"Items by shelf."`
	Hidden   string              // no key
	Never    string              `yaml:"-"`
	unseen   string              `yaml:"unseen"` // not exported
}

// Tags implements strictyaml.Tagger.
func (shop) Tags() strictyaml.Tags {
	return strictyaml.Tags{
		"name":   `pattern:"^[a-z]+$" form:"small letters"`,
		"prices": `keys:"^[a-z]+$" form:"an item's name"`,
	}
}

type shelf string

type item struct {
	ID    string `yaml:"id" required:"true" doc:"The item's id."`
	Count int    `yaml:"count" min:"0" max:"9" doc:"How many."`
}

// owner has a required secret, and tags in a method.
type owner struct {
	Nick string `yaml:"nick" doc:"Nickname."`
	Key  secret `yaml:"key" required:"true" doc:"Key of the door"`
}

// Tags implements strictyaml.Tagger. The tag beside the field goes first.
func (owner) Tags() strictyaml.Tags {
	return strictyaml.Tags{"nick": `pattern:"^[a-z]{2}$" form:"two small letters" doc:"Not this."`}
}

// secret remembers what it was given.
type secret struct {
	value, origin string
	found         bool
}

func (s *secret) SetSecret(value, origin string, found bool) { *s = secret{value, origin, found} }

// level is an integer that is written as a word.
type level int

func (l *level) UnmarshalText(text []byte) error {
	for i, word := range []string{"none", "low", "middle", "high"} {
		if string(text) == word {
			*l = level(i)
			return nil
		}
	}
	return errors.New("not a level")
}

func (level) Hint() string { return "Write none, low, middle or high." }

// plain has no hint, and is no number.
type plain string

func (p *plain) UnmarshalText(text []byte) error {
	if *p = plain(text); *p == "bad" {
		return errors.New("bad")
	}
	return nil
}

// point reads its own form: a list of two texts, or a section with other keys than its fields.
type point struct{ X, Y string }

func (p *point) ReadYAML(n strictyaml.Node) {
	switch n.Kind() {
	case strictyaml.List:
		items := n.Items()
		if len(items) != 2 {
			n.Problem("A point has two parts.", "Write [x, y].")
			return
		}
		p.X, _ = items[0].Text()
		p.Y, _ = items[1].Text()
	case strictyaml.Mapping:
		for key, value := range n.Entries() {
			text, ok := value.Text()
			switch {
			case !ok:
			case key == "east":
				p.X = text
			case key == "north":
				p.Y = text
			default:
				value.Problem("There is no such direction.", "Write east or north.")
			}
		}
	case strictyaml.Scalar:
		n.Unreadable("A point is not "+n.Describe()+".", "Write [x, y] in place of "+n.Raw()+".")
	}
}

func (point) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "array", Description: "A list of two."}
}

// minimal is a file without a problem.
const minimal = "name: shop\nowner: {key_env: DOOR}\n"

func environment(name string) (string, bool) {
	value, ok := map[string]string{"DOOR": "canary-door", "TILL": "canary-till", "EMPTY": ""}[name]
	return value, ok
}

// parse reads a file into a shop with defaults.
func parse(file string) (*shop, *strictyaml.Report, error) {
	s := &shop{Color: "red", Size: 3, Wait: time.Minute, Room: 2 << 10, Days: []string{"mon"}, Level: 1}
	root, report := strictyaml.Parse([]byte(file), strictyaml.Options{Env: environment})
	root.Struct(s)
	return s, report, report.Err("shop.yaml")
}

// problemsOf returns what is wrong with the file.
func problemsOf(t *testing.T, file string) []strictyaml.Problem {
	t.Helper()
	_, _, err := parse(file)
	if err == nil {
		return nil
	}
	require.NotContains(t, err.Error(), "canary", "no message contains a value")
	return problemsFrom(t, err)
}

// problemsFrom returns the problems of an error that is not nil.
func problemsFrom(t *testing.T, err error) []strictyaml.Problem {
	t.Helper()
	var problems *strictyaml.Problems
	require.ErrorAs(t, err, &problems)
	require.NotEmpty(t, problems.List)
	return problems.List
}
