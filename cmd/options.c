/* SPDX-License-Identifier: BSD-2-Clause */
/* options.c: how the words of a command line become a struct, by a table. */
#include "cmd/options.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "cmd/command.h"
#include "cmd/values.h"

static const char *const color_words[] = {"auto", "always", "never", NULL};

static const struct option common_options[] = {
	{.type = OPTION_HEADING, .help = "Everywhere:"},
	{.name = "help",
		.letter = 'h',
		.type = OPTION_FLAG,
		.bits = COMMON_HELP,
		.help = "this text"},
	{.name = "version",
		.letter = 'V',
		.type = OPTION_FLAG,
		.bits = COMMON_VERSION,
		.help = "print the version"},
	{.name = "quiet",
		.letter = 'q',
		.type = OPTION_FLAG,
		.bits = COMMON_QUIET,
		.help = "warnings and errors only"},
	{.name = "verbose",
		.letter = 'v',
		.type = OPTION_FLAG,
		.bits = COMMON_VERBOSE,
		.help = "say more: how much was read or sampled"},
	{.name = "color",
		.type = OPTION_WORDS,
		.value = "WHEN",
		.words = color_words,
		.offset = offsetof(struct common, color),
		.help = "auto, always or never; NO_COLOR is honoured"},
	OPTIONS_END,
};

/* One reading of an argv. */
struct parse {
	const struct command *command; /* NULL: common options alone */
	int argc;
	char **argv;
	int at; /* the next word */
	struct call *call;
	struct common *common;
};

/* Row by row through a table and those it takes in. */
struct walk {
	const struct option *at, *back; /* back: where the outer table goes on */
	size_t base; /* where the values of this table begin in the command's struct */
};

static const struct option *walk_next(struct walk *walk)
{
	for (;;) {
		const struct option *option = walk->at;

		if (option && option->type == OPTION_TABLE) {
			walk->back = option + 1;
			walk->at = option->table;
			walk->base = option->offset;
		} else if (option &&
			   (option->name || option->letter || option->type == OPTION_HEADING)) {
			walk->at++;
			return option;
		} else if (walk->back) {
			*walk = (struct walk){walk->back, NULL, 0};
		} else {
			return NULL;
		}
	}
}

static int is_named(const char *name, const char *word, size_t size)
{
	return name && strlen(name) == size && !memcmp(name, word, size);
}

/* The option of this name or letter, and where its values begin. NULL: none. */
static const struct option *find(
	const struct option *options, const char *name, size_t size, char letter, size_t *ret_base)
{
	struct walk walk = {options, NULL, 0};
	const struct option *o;

	while ((o = walk_next(&walk))) {
		*ret_base = walk.base;
		if (letter ? o->letter == letter
			   : is_named(o->name, name, size) || is_named(o->also, name, size))
			return o;
	}
	return NULL;
}

/* The command's own table goes first: it may give a letter another meaning. */
static const struct option *own_options(const struct parse *parse)
{
	return parse->command ? parse->command->options : NULL;
}

/* What a word on the command line was found to be, and where it is stored. */
struct found {
	const struct option *option;
	char *into;
};

static struct found lookup(const struct parse *parse, const char *name, size_t size, char letter)
{
	size_t base;
	const struct option *option = find(own_options(parse), name, size, letter, &base);

	if (option)
		return (struct found){option, (char *)parse->call->values + base + option->offset};
	option = find(common_options, name, size, letter, &base);
	if (option)
		return (struct found){option, (char *)parse->common + option->offset};
	return (struct found){0};
}

static int set(
	const struct found *found, const char *spelled, const char *value, struct stoke_error *err)
{
	const struct option *option = found->option;

	if (option->type == OPTION_LATER)
		return fail(err, option->status == STATUS_NOT_PERMITTED ? -EOPNOTSUPP : -EINVAL,
			"%s: %s", spelled, option->help);
	return value_store(option, found->into, spelled, value, err);
}

static int unknown_long(
	const struct parse *parse, const char *name, size_t size, struct stoke_error *err)
{
	const struct option *tables[] = {own_options(parse), common_options};
	const char *names[128];
	const char *near;
	char word[64];
	size_t nr = 0;

	for (size_t t = 0; t < ARRAY_SIZE(tables); t++) {
		struct walk walk = {tables[t], NULL, 0};
		const struct option *o;

		while ((o = walk_next(&walk))) {
			if (o->name && nr < ARRAY_SIZE(names))
				names[nr++] = o->name;
			if (o->also && nr < ARRAY_SIZE(names))
				names[nr++] = o->also;
		}
	}
	(void)snprintf(word, sizeof(word), "%.*s", (int)size, name); /* longer is near to nothing */
	near = nearest_name(word, names, nr);
	if (near)
		return fail(err, -EINVAL, "unknown option --%s; did you mean --%s?", word, near);
	return fail(err, -EINVAL, "unknown option --%s; stoke %s%s--help lists what there is", word,
		parse->command ? parse->command->name : "", parse->command ? " " : "");
}

static int take_long(struct parse *parse, const char *word, struct stoke_error *err)
{
	const char *name = word + 2;
	const char *equals = strchr(name, '=');
	size_t size = equals ? (size_t)(equals - name) : strlen(name);
	const struct found found = lookup(parse, name, size, 0);
	const char *value = equals ? equals + 1 : NULL;
	char spelled[64];

	if (!found.option)
		return unknown_long(parse, name, size, err);
	(void)snprintf(spelled, sizeof(spelled), "--%.*s", (int)size, name); /* known, so short */
	if (equals && !found.option->value)
		return fail(err, -EINVAL, "%s takes no value", spelled);
	if (found.option->value && !value) {
		if (parse->at >= parse->argc)
			return fail(
				err, -EINVAL, "%s needs a value: %s", spelled, found.option->value);
		value = parse->argv[parse->at++];
	}
	return set(&found, spelled, value, err);
}

static int unknown_letter(const struct parse *parse, const char *letters, struct stoke_error *err)
{
	const char *command = parse->command ? parse->command->name : "";

	return fail(err, -EINVAL, "unknown option -%.*s; stoke %s%s--help lists what there is",
		(unsigned char)*letters < 0x80 ? 1 : (int)strlen(letters), letters, command,
		*command ? " " : "");
}

static int take_letters(struct parse *parse, const char *word, struct stoke_error *err)
{
	/* "-pid 1", "-output x": one dash too few, and not "-p id". */
	if (word[2] && lookup(parse, word + 1, strlen(word + 1), 0).option)
		return fail(err, -EINVAL, "unknown option %s; did you mean -%s?", word, word);
	for (const char *letters = word + 1; *letters; letters++) {
		const struct found found = lookup(parse, NULL, 0, *letters);
		const char spelled[3] = {'-', *letters, '\0'};
		const char *value = NULL;
		int r;

		if (!found.option)
			return unknown_letter(parse, letters, err);
		if (found.option->value) {
			value = letters[1] ? letters + 1 : NULL;
			if (!value && parse->at >= parse->argc)
				return fail(err, -EINVAL, "%s needs a value: %s", spelled,
					found.option->value);
			if (!value)
				value = parse->argv[parse->at++];
		}
		r = set(&found, spelled, value, err);
		if (r < 0 || found.option->value)
			return r;
	}
	return 0;
}

static int take_option(struct parse *parse, struct stoke_error *err)
{
	const char *word = parse->argv[parse->at++];

	return word[1] == '-' ? take_long(parse, word, err) : take_letters(parse, word, err);
}

int options_common(int argc, char **argv, struct common *ret, struct stoke_error *err)
{
	struct parse parse = {.argc = argc, .argv = argv, .at = 1, .common = ret};

	while (parse.at < argc && argv[parse.at][0] == '-' && argv[parse.at][1]) {
		int r = take_option(&parse, err);

		if (r < 0)
			return r;
	}
	return parse.at;
}

int options_parse(const struct command *command, int argc, char **argv, struct call *call,
	struct common *common, struct stoke_error *err)
{
	struct parse parse = {command, argc, argv, 0, call, common};
	int r;

	call->values = calloc(1, command->values_size ? command->values_size : 1);
	call->operands = calloc((size_t)argc + 1, sizeof(*call->operands));
	if (!call->values || !call->operands)
		return fail(err, -ENOMEM, "out of memory");

	while (parse.at < argc) {
		const char *word = argv[parse.at];

		if (!strcmp(word, "--")) {
			parse.at++;
			if (command->has_sides && call->is_parted)
				return fail(err, -EINVAL,
					"one -- parts before from after; a file of such a name is "
					"./--");
			if (command->has_sides) {
				call->is_parted = 1;
				call->nr_first = call->nr_operands;
				continue;
			}
			if (command->runs_command) {
				call->after = argv + parse.at;
				return 0;
			}
			while (parse.at < argc)
				call->operands[call->nr_operands++] = argv[parse.at++];
			return 0;
		}
		if (word[0] != '-' || !word[1]) {
			call->operands[call->nr_operands++] = argv[parse.at++];
			continue;
		}
		r = take_option(&parse, err);
		if (r < 0)
			return r;
	}
	return 0;
}

void options_done(const struct command *command, struct call *call)
{
	struct walk walk = {command->options, NULL, 0};
	const struct option *o;

	while (call->values && (o = walk_next(&walk)))
		value_done(o, (char *)call->values + walk.base + o->offset);
	free(call->values);
	free(call->operands);
	call->values = NULL;
	call->operands = NULL;
}

void common_done(struct common *common)
{
	free(common->color.items);
	common->color.items = NULL;
}

#define HELP_COLUMN 28
#define HELP_WIDTH  79

/* Words of text from column on, wrapped below each other. */
static void wrap(FILE *out, const char *text, size_t column)
{
	size_t at = column;

	while (*text) {
		size_t size = strcspn(text, " ");

		if (at > column && at + 1 + size > HELP_WIDTH) {
			fprintf(out, "\n%*s", (int)column, "");
			at = column;
		} else if (at > column) {
			fputc(' ', out);
			at++;
		}
		fprintf(out, "%.*s", (int)size, text);
		at += size;
		text += size;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

static void help_row(const struct option *option, FILE *out)
{
	char left[128];
	int n;

	n = snprintf(left, sizeof(left), "  %c%c%s%s%s%s%s%s%s", option->letter ? '-' : ' ',
		option->letter ? option->letter : ' ', option->letter && option->name ? ", " : "  ",
		option->name ? "--" : "", option->name ? option->name : "",
		option->also ? ", --" : "", option->also ? option->also : "",
		option->value ? " " : "", option->value ? option->value : "");
	fputs(left, out);
	if (n > HELP_COLUMN - 2)
		fprintf(out, "\n%*s", HELP_COLUMN, "");
	else
		fprintf(out, "%*s", HELP_COLUMN - n, "");
	wrap(out, option->help, HELP_COLUMN);
}

static void help_table(const struct option *options, FILE *out)
{
	struct walk walk = {options, NULL, 0};
	const struct option *o;
	int first = 1;

	while ((o = walk_next(&walk))) {
		if (first && o->type != OPTION_HEADING)
			fputc('\n', out);
		first = 0;
		if (o->type == OPTION_HEADING)
			fprintf(out, "\n%s\n", o->help);
		else if (o->type != OPTION_LATER)
			help_row(o, out);
	}
}

void options_help(const struct option *options, FILE *out)
{
	help_table(options, out);
	help_table(common_options, out);
}
