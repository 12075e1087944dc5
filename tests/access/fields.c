/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded into an app of an image, this shows a window of two fields in the place of that app's: one that shows what is typed, and one that hides it and
 * has the focus. FIELDS says of which toolkit: 3, 4 (GtkEntry), 4p (GtkPasswordEntry), qt. Without the toolkits' headers, which are no part of a build.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

int g_application_run(void *app, int argc, char **argv);
int qt_exec(void) __asm__("_ZN12QApplication4execEv");

/* A function of the app's libraries. */
static void (*find(const char *name))(void)
{
	union {
		void *data;
		void (*function)(void);
	} found = {.data = dlsym(RTLD_NEXT, name)};

	if (!found.data)
		abort();
	return found.function;
}

static void *call(const char *name, void *object)
{
	return ((void *(*)(void *))find(name))(object);
}

static void *call_int(const char *name, void *object, int value)
{
	return ((void *(*)(void *, int))find(name))(object, value);
}

static void *call_with(const char *name, void *object, const void *value)
{
	return ((void *(*)(void *, const void *))find(name))(object, value);
}

static void gtk_fields(int version, int is_password_entry)
{
	const char *add = version == 3 ? "gtk_container_add" : "gtk_box_append";
	void *window, *box, *hidden;

	(void)(version == 3 ? call_with("gtk_init", NULL, NULL) : call("gtk_init", NULL));
	window = version == 3 ? call_int("gtk_window_new", NULL, 0) : call("gtk_window_new", NULL);
	box = ((void *(*)(int, int))find("gtk_box_new"))(1, 8);
	hidden = call(is_password_entry ? "gtk_password_entry_new" : "gtk_entry_new", NULL);
	if (!is_password_entry)
		(void)call_int("gtk_entry_set_visibility", hidden, 0);
	(void)call_with("gtk_window_set_title", window, "Fields");
	(void)call_with(version == 3 ? "gtk_container_add" : "gtk_window_set_child", window, box);
	(void)call_with(add, box, call("gtk_entry_new", NULL));
	(void)call_with(add, box, hidden);
	(void)call(version == 3 ? "gtk_widget_show_all" : "gtk_window_present", window);
	(void)call("gtk_widget_grab_focus", hidden);
	for (;;)
		(void)((int (*)(void *, int))find("g_main_context_iteration"))(NULL, 1);
}

int g_application_run(void *app, int argc, char **argv)
{
	const char *kind = getenv("FIELDS");

	if (!kind)
		return ((int (*)(void *, int, char **))find("g_application_run"))(app, argc, argv);
	gtk_fields(kind[0] - '0', kind[1] == 'p');
	return 0;
}

static void *qt_field(void *window, const int place[4])
{
	void *field = calloc(1, 256);

	(void)call_with("_ZN9QLineEditC1EP7QWidget", field, window);
	(void)call_with("_ZN7QWidget11setGeometryERK5QRect", field, place);
	return field;
}

int qt_exec(void)
{
	static const int PLACES[3][4] = {{300, 200, 599, 399}, {10, 10, 209, 39}, {10, 60, 209, 89}}; /* edges */
	void *window = calloc(1, 256), *hidden;

	if (getenv("FIELDS")) {
		((void (*)(void *, void *, int))find("_ZN7QWidgetC1EPS_6QFlagsIN2Qt10WindowTypeEE"))(window, NULL, 0);
		(void)call_with("_ZN7QWidget11setGeometryERK5QRect", window, PLACES[0]);
		(void)qt_field(window, PLACES[1]);
		hidden = qt_field(window, PLACES[2]);
		(void)call_int("_ZN9QLineEdit11setEchoModeENS_8EchoModeE", hidden, 2);
		(void)call("_ZN7QWidget4showEv", window);
		(void)call_int("_ZN7QWidget8setFocusEN2Qt11FocusReasonE", hidden, 7);
	}
	return ((int (*)(void))find("_ZN12QApplication4execEv"))();
}
