// SPDX-License-Identifier: Apache-2.0
// Comes before every source of a program of tests, see rm_test_program() of
// packaging/cmake/Tests.cmake: there QTEST_MAIN and its like define no main(), but register the
// class under the name of its source.
#pragma once

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <tl/expected.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace rm::test {

/// One class of tests. `file`: its source, tst_x.cpp. Lives as long as the program.
struct RegisteredTest {
    RegisteredTest(const char* file, int (*run)(int argc, char** argv));
};

template <class Test, class Application>
int runTest(int argc, char** argv) {
    Application application(argc, argv);
    Application::setAttribute(Qt::AA_Use96Dpi, true); // as QTEST_MAIN does
    Test test;
    return QTest::qExec(&test, argc, argv);
}

template <class Test>
int runTestWithoutApplication(int argc, char** argv) {
    Test test;
    return QTest::qExec(&test, argc, argv);
}

} // namespace rm::test

#undef QTEST_MAIN
#undef QTEST_GUILESS_MAIN
#undef QTEST_APPLESS_MAIN
// Several sources may be compiled as one.
#define RM_JOINED_NOW(a, b) a##b
#define RM_JOINED(a, b) RM_JOINED_NOW(a, b)
#define RM_REGISTER_TEST(run)                                                                      \
    static const rm::test::RegisteredTest RM_JOINED(registeredTest, __COUNTER__)(__FILE__, run);
#ifdef QT_WIDGETS_LIB
#define QTEST_MAIN(Class) RM_REGISTER_TEST((rm::test::runTest<Class, QApplication>))
#endif
#define QTEST_GUILESS_MAIN(Class) RM_REGISTER_TEST((rm::test::runTest<Class, QCoreApplication>))
#define QTEST_APPLESS_MAIN(Class) RM_REGISTER_TEST(rm::test::runTestWithoutApplication<Class>)
